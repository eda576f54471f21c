#!/usr/bin/env bash
# A standalone Spark cluster from the packages of rocketmq-conformance[spark]; PySpark from pip has no start-master.sh.
#
#     spark-cluster.sh master HOST             on one machine, reachable as HOST
#     spark-cluster.sh worker HOST MASTER      on each machine that works; MASTER is spark://HOST:7077 of the first
#
# Each stays in the foreground until it is stopped: make it a service. Ports, cores and memory are set by Spark's own
# variables (SPARK_MASTER_PORT, SPARK_WORKER_CORES, SPARK_WORKER_MEMORY …). Whoever reaches the port of a master can run
# programs on the workers: HOST is an address of a private network, or 127.0.0.1.
set -eu
role=${1:?master or worker} host=${2:?the host name or address of this machine}
export SPARK_LOCAL_IP=$host
case $role in
master) exec spark-class org.apache.spark.deploy.master.Master --host "$host" ;;
worker) exec spark-class org.apache.spark.deploy.worker.Worker --host "$host" "${3:?spark://HOST:7077}" ;;
*) echo "Write master or worker, not $role." >&2 && exit 2 ;;
esac
