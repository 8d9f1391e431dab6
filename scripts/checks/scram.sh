#!/usr/bin/env bash
# Authenticates every process by a password (SCRAM) on a real Kafka, with the librdkafka that the programs load.
# Kafka 4.0 and later refuse SCRAM of librdkafka before 2.6.1. With such a pair, every process must end or stay unready, and
# name the version of librdkafka and the cause. With every other pair, refunds of a simulated App Store must become events
# of the refunds worker, each exactly once, and a wrong password must be called one. The first record of a producer must not
# take 500 ms, as it does with librdkafka 2.10 and later if nothing connects the producer before.
#
#   scripts/check scram    a minute; needs an installed Apache Kafka (see scripts/kafka), or it exits with 3.
#                          LD_LIBRARY_PATH chooses the librdkafka, or scripts/check librdkafka scripts/check scram
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
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-scram.XXXXXX")
clean_up_at_exit
logs() { tail -n 20 "$temporary"/*.log >&2; }

say "Starting Kafka with a listener for passwords"
ingress=$(free_port) admin=$(free_port) worker=$(free_port)
start_scram_kafka "$temporary/kafka"
add_scram_user millrace
# configuration PORT PASSWORD prints the configuration of a process with this admin port.
configuration() {
  cat <<YAML
kafka:
  bootstrapServers: "$scram_servers"
  durability: relaxed
  properties: $(scram_properties millrace | sed "s/: secret/: $2/")
topics: { lanes: 2 }
trust: { roots: ["$temporary/root.pem"] }
apps:
  - { bundleId: com.example.app, environments: [Sandbox] }
workers: { refunds: {} }
ingress: { host: 127.0.0.1, port: $ingress }
admin: { host: 127.0.0.1, port: $1 }
YAML
}
configuration "$admin" secret >"$temporary/ingress.yaml"
configuration "$worker" secret >"$temporary/refunds.yaml"
configuration "$worker" wrong >"$temporary/wrong.yaml"
# 40 refunds in 20 seconds.
refund_scenario "$ingress" 40 20 >"$temporary/scenario.yaml"

sed "s/^  bootstrapServers: .*/  bootstrapServers: \"$kafka_servers\"/; /^  properties: /d" "$temporary/ingress.yaml" >"$temporary/plain.yaml"
"$bin/millrace" topics apply --yes --config "$temporary/plain.yaml" >"$temporary/topics.log" 2>&1 ||
  { logs; die "could not create the topics"; }
library=$(librdkafka_version '')
kafka=$(installed_kafka)
note "Kafka $kafka, librdkafka $library"

# says TEXT COMMAND... runs a command, which must fail and print this text.
says() {
  ! timeout 60 "${@:2}" >"$temporary/refused.log" 2>&1 || { cat "$temporary/refused.log" >&2; die "Kafka accepted it: ${*:2}"; }
  grep -qF "$1" "$temporary/refused.log" || { cat "$temporary/refused.log" >&2; die "${*:2} does not say \"$1\""; }
}

if ! at_least "$library" 2.6.1 && at_least "$kafka" 4.0; then
  say "This pair cannot work: every process names the cause"
  cause="librdkafka $library repeats the client nonce, which Kafka refuses since 4.0"
  says "$cause" "$bin/millrace" topics plan --config "$temporary/refunds.yaml"
  says "use the image or a system with librdkafka 2.6.1 or later" "$bin/millrace" doctor --skip apple --config "$temporary/refunds.yaml"
  note "$(sed -n 's/.*"check":"cluster".*/&/p' "$temporary/refused.log" | cut -c 1-400)"
  start_refunds "$temporary/scenario.yaml"
  says "$cause" "$bin/millrace-refunds" --config "$temporary/refunds.yaml"
  start "$temporary/ingress.log" "$bin/millrace-ingress" --config "$temporary/ingress.yaml"
  tries=150
  until curl --silent "http://127.0.0.1:$admin/readyz" | grep -F "$cause" >"$temporary/ready"; do
    [ $((tries--)) -gt 0 ] || { logs; die "/readyz of the ingress does not name the cause"; }
    sleep 0.2
  done
  say "As promised: librdkafka $library with Kafka $kafka is refused, and every process says why"
  exit 0
fi

say "A wrong password is called one"
says "check the credentials" "$bin/millrace" topics plan --config "$temporary/wrong.yaml"
! at_least "$library" 2.6.1 || ! grep -F "client nonce" "$temporary/refused.log" >&2 ||
  die "librdkafka $library repeats no nonce"
note "$(grep -m 1 -o 'authentication failed.*' "$temporary/refused.log" | cut -c 1-200)"

say "Running the ingress and the refunds worker"
start_refunds "$temporary/scenario.yaml"
start "$temporary/ingress.log" "$bin/millrace-ingress" --config "$temporary/ingress.yaml"
first=$!
start "$temporary/refunds.log" "$bin/millrace-refunds" --config "$temporary/refunds.yaml"
second=$!
for port in "$admin" "$worker"; do refunds_ready "$port"; done
export MILLRACE_CONFIG=$temporary/refunds.yaml
compare_refunds 40
for process in "$first" "$second"; do stop "$process" || { logs; die "a process ended with status $?"; }; done
! grep -l 'sasl.password.*secret' "$temporary"/*.log || die "a log contains the password"

# librdkafka 2.10 and later look for a producer id again only after 500 ms, unless the producer has asked the cluster twice.
say "The first record of a producer"
for _ in 1 2 3 4 5; do
  "$bin/millrace" doctor --skip apple --json 2>>"$temporary/doctor.log" | grep '"check":"probe"' |
    sed -n 's/.*written in \([0-9]*\) ms.*/\1/p'
done | sort -n >"$temporary/first"
[ "$(wc -l <"$temporary/first")" -eq 5 ] || { logs; die "the doctor wrote only $(wc -l <"$temporary/first") of 5 records"; }
note "written within $(paste -sd ' ' "$temporary/first") ms"
[ "$(sed -n 1p "$temporary/first")" -lt 400 ] || die "every first record took $(sed -n 1p "$temporary/first") ms or more"
say "As promised: librdkafka $library with Kafka $kafka authenticates by SCRAM"
