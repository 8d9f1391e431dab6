#!/usr/bin/env bash
# Measures cost against the number of processes, lanes and ledger entries, on a real Kafka.
# Starts a Kafka of one node and deletes it. Needs an installed Apache Kafka (scripts/kafka --help). The largest ledger
# takes about a gigabyte in the temporary directory.
#
#   scripts/bench growth [--json] [--only headers|verified|ingress|starts|subscriptions] [--rounds N] [--largest ENTRIES]
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

need_swift
cd "$root"
scripts/kafka found >/dev/null || exit $?
{
  need_packages "${build_packages[@]}" wrk
  build_release
} >&2

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-growth.XXXXXX")
clean_up_at_exit
start_kafka "$temporary/kafka" --nodes 1
export KAFKA_BOOTSTRAP_SERVERS=$kafka_servers
# The topics are deleted with the cluster.
owns_topics=false
"$bin/bench" growth "$@"
