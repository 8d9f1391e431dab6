#!/usr/bin/env bash
# Runs the Python, Java and JavaScript examples of docs/consuming.md on a real Kafka.
# The topic has genuine, repeated, forged, damaged, unlabelled and aborted records; every genuine notification must be
# printed once. Java uses the jars of an installed Kafka, JavaScript a stand-in for its client that reads through kcat.
# Without a real cluster it skips all three by name. Needs Python 3 with venv, and PyPI on the first run.
#
#   scripts/check consuming [LANGUAGE...]    exits with 0 if every example reads what it must
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

languages=("$@")
[ ${#languages[@]} -gt 0 ] || languages=(python java javascript)
cd "$root"
jars=$(scripts/kafka found 2>/dev/null) || jars=
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-consuming.XXXXXX")
clean_up_at_exit
if [ -n "${KAFKA_BOOTSTRAP_SERVERS:-}" ]; then
  kafka_servers=$KAFKA_BOOTSTRAP_SERVERS
elif [ -n "$jars" ]; then
  say "Starting Apache Kafka"
  start_kafka "$temporary/kafka"
else
  for language in "${languages[@]}"; do note "skipped: $language: no Apache Kafka is installed"; done
  exit 0
fi
python_environment consuming

for language in "${languages[@]}"; do
  case "$language" in
  python) ;;
  java)
    [ -n "$jars" ] || { note "skipped: java: no jars of Apache Kafka are installed"; continue; }
    need_packages openjdk-17-jdk-headless
    ;;
  javascript)
    command -v node >/dev/null || need_packages nodejs
    need_packages kcat
    ;;
  *) usage "[python] [java] [javascript]" ;;
  esac
  say "Running the example in $language"
  mkdir "$temporary/$language"
  "$python" scripts/checks/consuming/check.py "$language" docs/consuming.md "$kafka_servers" "$temporary/$language" "$jars"
done
