#!/usr/bin/env bash
# Reads the decoded records with Confluent's Python client, and checks each against its registered schema.
# The registry is a small server of this project with the same REST API. With KAFKA_BOOTSTRAP_SERVERS=host:port it runs
# on a real cluster. Needs Python 3 with venv, and PyPI.
#
#   scripts/check schema-registry    exits with 0 if every record is read once and is valid
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

need_swift
need_packages "${build_packages[@]}" python3 python3-venv
cd "$root"

build_programs millrace millrace-ingress millrace-decoder appstore-simulator

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-registry.XXXXXX")
clean_up_at_exit
logs() { tail -n 20 "$temporary"/*.log >&2; }

say "Installing Confluent's client"
python3 -m venv "$temporary/venv"
"$temporary/venv/bin/pip" install --quiet --disable-pip-version-check 'confluent-kafka[json,schemaregistry]>=2.5,<3'

export MILLRACE_TOPICS_DIRECTORY=$root/topics MILLRACE_TOPICS_LANES=3 MILLRACE_CONFIG=$temporary/topics.yaml
echo "workers: { decoder: {} }" >"$MILLRACE_CONFIG"
use_cluster registry
prefix=${MILLRACE_TOPICS_PREFIX:-}

start "$temporary/registry.port" python3 scripts/checks/schema-registry/registry.py
wait_for_file "$temporary/registry.port" "$!" 60 || die "the registry did not start"
registry=http://127.0.0.1:$(cat "$temporary/registry.port")
printf secret >"$temporary/password"
ingress=$(free_port) admin=$(free_port)

say "Sending every kind of notification, which takes a minute and a half"
# Slower than the scenario: Apple repeats a notification after an hour, so the ingress has to listen before the first one.
start "$temporary/simulator.log" "$bin/appstore-simulator" run scenarios/every-kind.yaml --rate 20 \
  --target "http://127.0.0.1:$ingress/v2" --write-root "$temporary/root.pem" --write-clock "$temporary/clock.yaml" \
  --write-sent "$temporary/sent.jsonl"
simulator=$!
for file in root.pem clock.yaml; do
  wait_for_file "$temporary/$file" "$simulator" 120 || { logs; die "the simulator wrote no $file"; }
done
cat "$temporary/clock.yaml" - >"$temporary/millrace.yaml" <<YAML
kafka: { bootstrapServers: "$bootstrap", durability: relaxed }
trust: { roots: ["$temporary/root.pem"] }
apps: [{ bundleId: com.example.app, appAppleId: 1234567890, environments: [Production] }]
workers:
  decoder:
    settings: { schemaRegistry: { url: "$registry", user: millrace, passwordFile: "$temporary/password" } }
appStore: { productionURL: "http://127.0.0.1:1", sandboxURL: "http://127.0.0.1:1" }
ingress: { host: 127.0.0.1, port: $ingress }
admin: { host: 127.0.0.1, port: $admin }
logging: { level: warning }
YAML
export MILLRACE_CONFIG=$temporary/millrace.yaml
start "$temporary/ingress.log" "$bin/millrace-ingress"
MILLRACE_ADMIN_PORT=0 start "$temporary/decoder.log" "$bin/millrace-decoder"
wait "$simulator" || { logs; die "the simulator ended with an error"; }

say "Reading the decoded records"
"$temporary/venv/bin/python" scripts/checks/schema-registry/consumer.py "$bootstrap" "$registry" "$prefix" \
  "$temporary/sent.jsonl" || { logs; die "the decoded records are not as expected"; }
