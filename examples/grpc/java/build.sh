#!/usr/bin/env sh
# Builds the consumer into a folder; the client comes by Maven.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
version=${2:-5.2.0}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
mvn -q -B dependency:copy -Dartifact="org.apache.rocketmq:rocketmq-client-java:$version" -DoutputDirectory="$folder"
javac -cp "$folder/rocketmq-client-java-$version.jar" -d "$folder" "$here/Consumer.java"
cat > "$folder/consumer" <<END
#!/bin/sh
exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx128m -Drocketmq.log.root="$folder/logs" \\
    -cp "$folder:$folder/rocketmq-client-java-$version.jar" Consumer
END
chmod +x "$folder/consumer"
