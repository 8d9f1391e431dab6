#!/usr/bin/env bash
# Measures the time from a notification's POST until a reader of committed records has its row, beside a Java program that
# copies in transactions, on a real Kafka. Starts a Kafka of three nodes and deletes it. Needs an installed Apache Kafka
# (scripts/kafka --help), which also has the Java client, and a JDK.
#
#   scripts/bench latency [--json] [--rate N] [--pairs N] [--seconds N]
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

need_swift
cd "$root"
jars=$(scripts/kafka found) || exit $?
{
  need_packages "${build_packages[@]}" curl
  command -v javac >/dev/null || need_packages default-jdk-headless
  build_release
} >&2

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-latency.XXXXXX")
clean_up_at_exit
start_kafka "$temporary/kafka" --nodes 3
export KAFKA_BOOTSTRAP_SERVERS=$kafka_servers
# The topics are deleted with the cluster.
owns_topics=false
"$bin/bench" latency --jars "$jars" "$@"
