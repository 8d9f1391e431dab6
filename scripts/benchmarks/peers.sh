#!/usr/bin/env bash
# Compares the ingress and a worker with Kafka's Java client and with Python programs, on a real Kafka.
# Benchmarks/Peers has their sources. The Python programs use Apple's library and confluent-kafka from PyPI, which are
# installed into .build/peers. Needs an installed Apache Kafka (scripts/kafka --help), which also has the Java client,
# a JDK, and Python 3 with venv. Starts a Kafka of one node and deletes it.
#
#   scripts/bench peers [--json] [--only java|consumer|endpoint|service] [--pairs N]
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

need_swift
cd "$root"
jars=$(scripts/kafka found) || exit $?
{
  need_packages "${build_packages[@]}" wrk
  # Debian ships venv as a separate package.
  python3 -c "import ensurepip, venv" 2>/dev/null || need_packages python3 python3-venv
  command -v javac >/dev/null || need_packages default-jdk-headless
  venv=$root/.build/peers
  if ! cmp -s Benchmarks/Peers/requirements.txt "$venv/installed.txt"; then
    say "Installing the requirements of Benchmarks/Peers from PyPI"
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r Benchmarks/Peers/requirements.txt
    cp Benchmarks/Peers/requirements.txt "$venv/installed.txt"
  fi
  build_release
} >&2

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-peers.XXXXXX")
clean_up_at_exit
start_kafka "$temporary/kafka" --nodes 1
export KAFKA_BOOTSTRAP_SERVERS=$kafka_servers PYTHONDONTWRITEBYTECODE=1
# The topics are deleted with the cluster.
owns_topics=false
"$bin/bench" peers --python "$venv/bin/python" --jars "$jars" "$@"
