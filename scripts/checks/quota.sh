#!/usr/bin/env bash
# Runs the ingress and a worker on a real Kafka that delays them because of a quota, and then with a wrong clock.
# With producer_byte_rate for every user, refunds of a simulated App Store must still become events, each exactly once. The
# metric, the log and /readyz must say that a quota delays the process, and `millrace doctor` too. Then the topic of the
# doctor's probe accepts only timestamps that no clock has, and the doctor must name the clock.
#
#   scripts/check quota    a minute; needs an installed Apache Kafka (see scripts/kafka), or it exits with 3
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=scripts/refunds.sh
. "$root/scripts/refunds.sh"
# shellcheck source=scripts/scram.sh
. "$root/scripts/scram.sh"

[ $# -eq 0 ] || usage
cd "$root"
scripts/kafka found >/dev/null || exit $?
need_swift
need_packages "${build_packages[@]}" curl kcat python3

build_programs millrace millrace-ingress millrace-refunds appstore-simulator
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-quota.XXXXXX")
clean_up_at_exit
logs() { tail -n 20 "$temporary"/*.log >&2; }

say "Starting Kafka"
ingress=$(free_port) admin=$(free_port) worker=$(free_port)
start_kafka "$temporary/kafka"
cat >"$temporary/millrace.yaml" <<YAML
kafka: { bootstrapServers: "$kafka_servers", durability: relaxed }
topics: { lanes: 2 }
trust: { roots: ["$temporary/root.pem"] }
apps:
  - { bundleId: com.example.app, environments: [Sandbox] }
workers: { refunds: { retryDelays: [1s, 10s] } }
ingress: { host: 127.0.0.1, port: $ingress }
admin: { host: 127.0.0.1, port: $admin }
YAML
export MILLRACE_CONFIG=$temporary/millrace.yaml
# 100 refunds in 20 seconds: about 40,000 bytes a second.
refund_scenario "$ingress" 100 20 >"$temporary/scenario.yaml"
"$bin/millrace" topics apply --yes >"$temporary/topics.log" 2>&1 || { logs; die "could not create the topics"; }

say "With a quota of 20,000 bytes a second for every user"
kafka_tool configs --bootstrap-server "$kafka_servers" --alter --entity-type users --entity-default \
  --add-config producer_byte_rate=20000
start_refunds "$temporary/scenario.yaml"
start "$temporary/ingress.log" "$bin/millrace-ingress"
first=$!
MILLRACE_ADMIN_PORT=$worker start "$temporary/refunds.log" "$bin/millrace-refunds"
second=$!
for port in "$admin" "$worker"; do refunds_ready "$port"; done
# delayed PORT prints for how long quotas have delayed the clients of a process, in seconds.
delayed() {
  curl --silent "http://127.0.0.1:$1/metrics" |
    awk '/^millrace_kafka_throttled_seconds_total/ { sum += $NF } END { print sum + 0 }'
}
tries=300
until [ "$(delayed "$admin")" != 0 ]; do
  [ $((tries--)) -gt 0 ] || { logs; die "no client of the ingress reports a delay"; }
  sleep 0.2
done
curl --silent "http://127.0.0.1:$admin/readyz" >"$temporary/ready"
sleep 2
curl --silent "http://127.0.0.1:$admin/readyz" >>"$temporary/ready"
grep -q '"name":"kafka-quota","ok":true' "$temporary/ready" || { cat "$temporary/ready" >&2; die "/readyz does not mention the quota"; }
"$bin/millrace" doctor --skip apple --json >"$temporary/doctor.jsonl" 2>"$temporary/doctor.log" || true
grep -q '"check":"probe".*a quota of the cluster delays' "$temporary/doctor.jsonl" ||
  { cat "$temporary/doctor.jsonl" >&2; die "the doctor does not mention the quota"; }
# The ingress answers 503 if a record waits longer than its deadline. The sandbox does not post it again.
compare_refunds 20
for port in "$admin" "$worker"; do note "port $port: delayed for $(delayed "$port") s"; done
grep -c 'a quota of the Kafka cluster delays this client' "$temporary/ingress.log" >"$temporary/count" || die "the ingress does not log the quota"
[ "$(cat "$temporary/count")" -le 2 ] || die "the ingress logs the quota $(cat "$temporary/count") times in a minute"
for process in "$first" "$second"; do stop "$process" || { logs; die "a process ended with status $?"; }; done
kafka_tool configs --bootstrap-server "$kafka_servers" --alter --entity-type users --entity-default \
  --delete-config producer_byte_rate

say "With a topic that accepts no timestamp of a clock"
kafka_tool configs --bootstrap-server "$kafka_servers" --alter --entity-type topics --entity-name millrace.control \
  --add-config message.timestamp.before.max.ms=0,message.timestamp.after.max.ms=0
"$bin/millrace" doctor --skip apple --json >"$temporary/doctor.jsonl" 2>"$temporary/doctor.log" || true
grep "compare this machine's clock with the brokers'" "$temporary/doctor.jsonl" | grep -q '"check":"probe"' ||
  { cat "$temporary/doctor.jsonl" >&2; die "the doctor does not name the clock"; }
note "$(grep '"check":"probe"' "$temporary/doctor.jsonl" | cut -c 1-300)"
say "Quotas and wrong clocks are called by their names"
