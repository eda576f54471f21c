#!/usr/bin/env bash
# A campaign of this night on a Spark cluster, compared with those of the nights before. In a crontab:
#
#     30 1 * * *  MASTER=spark://HOST:7077 RESULTS=/shared/nightly nightly-campaign.sh port --cases 10000000
#
# RESULTS is a folder that all machines share; each night has a folder there, named by its day (NIGHT, by default today
# in UTC). What follows is given to the campaign: addresses and options. A night that was cut off goes on when the script
# is started again.
#
# Exit codes: 0 no new cluster, also where known ones are left; 1 a new one; 3 undecided; 2 and 4 the campaign could not
# run. The first night has nothing to be compared with, and ends with the code of its campaign.
set -u
: "${MASTER:?spark://HOST:7077}" "${RESULTS:?a folder that all machines share}"
night=${NIGHT:-$(date -u +%F)}
out=$RESULTS/$night
resume=
[ -e "$out/campaign.json" ] && resume=--resume

rocketmq-conformance campaign "$@" --master "$MASTER" --seed "${night//-/}" --out "$out" ${resume:+"$resume"}
judged=$?
case $judged in 0 | 1 | 3) ;; *) exit $judged ;; esac

rocketmq-conformance campaign trend "$RESULTS"
compared=$?
case "$judged $compared" in
*" 3" | "3 0") exit $judged ;;
*) exit $compared ;;
esac
