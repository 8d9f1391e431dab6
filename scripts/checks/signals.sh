#!/usr/bin/env bash
# Breaks a deployment on a real Kafka, and checks what the log, status, doctor, console and alerts say within a minute.
# Each row of a table breaks one thing: a worker, an endpoint, a receiver, a certificate, the configuration, a clock, Apple,
# PostgreSQL, Kafka. The table says what the log of the process, `millrace status`, `millrace doctor`, the console and the
# alerts at a real HTTP receiver have to say. Two consoles run: each alert must arrive once, also after kill -9 of the one that
# posts, and its end once.
#
#   scripts/check signals          five rows; three minutes
#   scripts/check signals --all    every row; seven minutes. As root, with a small file system as the disk of PostgreSQL
#
# Needs an installed Apache Kafka (see scripts/kafka), or it exits with 3.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=scripts/refunds.sh
. "$root/scripts/refunds.sh"

rows=()
while [ $# -gt 0 ]; do
  case "$1" in
  --all) rows=(--all) ;;
  *) usage "[--all]" ;;
  esac
  shift
done
cd "$root"
scripts/kafka found >/dev/null || exit $?
need_swift
need_packages "${build_packages[@]}" curl kcat python3 openssl

build_programs millrace millrace-ingress millrace-refunds millrace-subscriptions millrace-decoder millrace-worker \
  millrace-postgres millrace-console appstore-simulator
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-signals.XXXXXX")
clean_up_at_exit
logs() { tail -n 20 "$temporary"/*.log >&2; }

if [ ${#rows[@]} -gt 0 ]; then
  clang -shared -fPIC -o "$temporary/clock.so" scripts/checks/signals/clock.c
  # PostgreSQL starts later, with a file system of its own that ends with it.
  if unshare --mount mount -t tmpfs tmpfs "$temporary" 2>"$temporary/mount.log"; then
    create_postgres "$temporary/postgres"
    mkdir "$temporary/small"
    cat >"$temporary/database.sh" <<SH
mount -t tmpfs -o size=8m,mode=700,uid=$(id -u postgres) tmpfs '$temporary/small' || exit
exec ${postgres_as[*]} '$postgres_bin/postgres' -D '$temporary/postgres/data' -p $postgres_port -c fsync=off \
  -c listen_addresses=127.0.0.1 -c unix_socket_directories=
SH
    rows+=(--database "$temporary/database.sh" --psql "$postgres_bin/psql" --port "$postgres_port")
  else
    note "skipped: the disk of PostgreSQL is full: a small file system cannot be mounted: $(<"$temporary/mount.log")"
  fi
fi

say "Starting Kafka"
start_kafka "$temporary/kafka"
refund_scenario 1 12 3 >"$temporary/scenario.yaml"
: >"$temporary/signals.out"
start "$temporary/signals.out" python3 -Bu scripts/checks/signals/run.py --bin "$bin" --kafka "$kafka_servers" \
  --directory "$temporary" "${rows[@]}"
table=$!
tail -n +1 -f --pid "$table" "$temporary/signals.out" &
children+=($!)
wait "$table" || { logs; die "$(tail -n 1 "$temporary/signals.out")"; }
say "Log, status, doctor, console and alerts say what is broken"
