#!/usr/bin/env bash
# Compares millrace-postgres with COPY by psql, and measures the question about a customer.
# Both sides write the same rows into the same tables of the same server. Needs an Apache Kafka, PyPI on the first run, and
# a few gigabytes below TMPDIR.
#
#   scripts/bench postgres            300 000 rows for each table, and 1 000 000 subscriptions for the question
#   scripts/bench postgres --rows N   with N rows
#   scripts/bench postgres --json     prints one line of JSON
#
# With KAFKA_BOOTSTRAP_SERVERS=host:port it uses that cluster.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

rows=300000 json=()
while [ $# -gt 0 ]; do
  case "$1" in
  --json) json=(--json) ;;
  --rows)
    [ $# -ge 2 ] || die "--rows needs a number"
    rows=$2
    shift
    ;;
  *) usage "[--rows N] [--json]" ;;
  esac
  shift
done

{
  need_swift
  need_packages "${build_packages[@]}" postgresql python3 python3-venv
  cd "$root"
  build_release
  temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-postgres.XXXXXX")
  clean_up_at_exit
  if [ ! -x .build/postgres-bench/bin/python ]; then
    python3 -m venv .build/postgres-bench
    .build/postgres-bench/bin/pip install --quiet --disable-pip-version-check 'confluent-kafka>=2.5,<3'
  fi
  bootstrap=${KAFKA_BOOTSTRAP_SERVERS:-}
  if [ -z "$bootstrap" ]; then
    say "Starting Apache Kafka"
    start_kafka "$temporary/kafka"
    bootstrap=$kafka_servers
  fi
  create_postgres "$temporary/postgres"
  start_postgres "$temporary/postgres" on
  export MILLRACE_TOPICS_DIRECTORY=$root/topics MILLRACE_TOPICS_LANES=12 MILLRACE_CONFIG=$temporary/millrace.yaml
  cat >"$MILLRACE_CONFIG" <<YAML
kafka: { bootstrapServers: "$bootstrap", durability: relaxed }
topics: { prefix: "${KAFKA_TEST_PREFIX}bench-" }
workers: { decoder: {}, subscriptions: {} }
postgres: { url: "$postgres_url" }
admin: { port: 0 }
logging: { level: warning }
YAML
  "$bin/millrace" topics apply --yes >"$temporary/topics.log" 2>&1 || { cat "$temporary/topics.log" >&2; die "could not create the topics"; }
  "$bin/millrace" postgres migrate >"$temporary/migrate.log" 2>&1 || { cat "$temporary/migrate.log" >&2; die "could not create the tables"; }
} >&2
.build/postgres-bench/bin/python scripts/benchmarks/postgres.py --bin "$bin" --psql "$postgres_bin" --url "$postgres_url" \
  --bootstrap "$bootstrap" --prefix "${KAFKA_TEST_PREFIX}bench-" --rows "$rows" --directory "$temporary" "${json[@]}"
