#!/bin/sh
# Compiles the consumer against a release of the official client, and writes FOLDER/consumer, which runs it:
#   build.sh RELEASE FOLDER
set -eu
release=$1 folder=$(mkdir -p "$2" && cd "$2" && pwd) here=$(cd "$(dirname "$0")" && pwd)
case $release in
4.[0-3].*) acl= ;; # without credentials
4.* | 5.[0-2].* | 5.3.[0-2]) acl=-Dacl ;; # in a jar of their own
*) acl= ;;
esac
mvn -q -B -f "$here/pom.xml" -Drelease="$release" $acl -DincludeScope=runtime -Dmdep.outputFile="$folder/class-path" \
    dependency:build-classpath
jars=$(cat "$folder/class-path")
case $release in
4.[0-3].*)
    access=$folder/Access.java
    echo "class Access { static void encrypt() {} static org.apache.rocketmq.remoting.RPCHook signing() { return null; } }" \
        >"$access"
    ;;
*) access=$here/Access.java ;;
esac
javac -cp "$jars" -d "$folder" "$access" "$here/Consumer.java"
case $release in
4.[0-5].* | 4.6.0) ;; # without lite pull consumers that look where to start
*) javac -cp "$jars:$folder" -d "$folder" "$here/LiteConsumer.java" ;;
esac
# a small heap: several of these run at once; exec: SIGTERM reaches Java itself
echo "#!/bin/sh
[ \"\$ROCKETMQ_KIND\" = lite ] && kind=LiteConsumer || kind=Consumer
[ -e '$folder'/\$kind.class ] || exec echo '{\"unsupported\": \"lite pull consumers of this release do not look where to start\"}'
exec java -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp '$folder:$jars' \$kind" >"$folder/consumer"
chmod +x "$folder/consumer"
