#!/usr/bin/env bash
# Runs processes with exactly the rights that `millrace topics acls` prints, on three nodes of a real Kafka.
# The brokers authenticate each process (SCRAM) and refuse everything that no ACL allows. Refunds of a simulated App Store
# must become events of the refunds worker, the console must serve its page, and a backfill must read Apple's history; the
# brokers must refuse nothing on the way. Then the script takes one right after the other away, and the process must name
# what it may not use.
#
#   scripts/check acls    about three minutes; needs an installed Apache Kafka (see scripts/kafka), or it exits with 3
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

[ $# -eq 0 ] || usage
cd "$root"
jars=$(scripts/kafka found) || exit $?
need_swift
need_packages "${build_packages[@]}" curl python3

build_programs millrace millrace-ingress millrace-refunds millrace-console appstore-simulator
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-acls.XXXXXX")
clean_up_at_exit
# All names have the prefix of a deployment.
prefix=trial-

say "Starting three nodes of Kafka with a listener that authenticates, and with an authorizer"
ingress=$(free_port) admin=$(free_port) production=$(free_port) sandbox=$(free_port) console=$(free_port)
start_kafka "$temporary/kafka" --nodes 3 \
  --set "listeners=PLAINTEXT://127.0.0.1:{port},SASL://127.0.0.1:{second},CONTROLLER://127.0.0.1:{control}" \
  --set "advertised.listeners=PLAINTEXT://127.0.0.1:{port},SASL://127.0.0.1:{second}" \
  --set 'listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT' \
  --set sasl.enabled.mechanisms=SCRAM-SHA-512 \
  --set "listener.name.sasl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;" \
  --set authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer \
  --set super.users=User:ANONYMOUS

# tool CLASS ARGUMENT... runs one of Kafka's own commands.
tool() {
  java -Xmx96m -XX:TieredStopAtLevel=1 -cp "$jars/*" "$@" >>"$temporary/tools.log" 2>&1 ||
    { tail -n 20 "$temporary/tools.log" >&2; die "Kafka's command failed: $*"; }
}
# Under the name that `millrace topics acls` prints.
kafka-acls.sh() { tool kafka.admin.AclCommand "$@"; }
export BOOTSTRAP=$kafka_servers
sasl=$(cat "$temporary/kafka/second-servers")
processes=(ingress refunds console backfill)
for process in "${processes[@]}"; do
  tool kafka.admin.ConfigCommand --bootstrap-server "$BOOTSTRAP" --alter --entity-type users --entity-name "millrace-$process" \
    --add-config 'SCRAM-SHA-512=[iterations=4096,password=secret]'
done

cat >"$temporary/scenario.yaml" <<YAML
description: Refunds for the check of rights.
seed: 1
clock: { rate: 60 }
duration: 90m
apps:
  - bundleId: com.example.app
    appAppleId: 1234567890
    environments: [Production]
    notifications:
      Production: { url: "http://127.0.0.1:$ingress/v2" }
    products:
      - { productId: com.example.app.coins, type: consumable, price: 990 }
world:
  customers:
    - { count: 20, products: [com.example.app.coins], since: 10d }
events:
  - { do: refund, after: 10m, for: 2m, count: 20 }
YAML
# configuration USER SERVERS prints the configuration of a process.
configuration() {
  cat <<YAML
kafka:
  bootstrapServers: "$2"
  properties: { ${1:+security.protocol: sasl_plaintext, sasl.mechanism: SCRAM-SHA-512, sasl.username: $1, sasl.password: secret} }
topics: { prefix: $prefix, lanes: 2 }
trust: { roots: ["$temporary/root.pem"] }
apps:
  - bundleId: com.example.app
    appAppleId: 1234567890
    environments: [Production]
    api: { issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: SIMULATOR1, privateKeyFile: "$temporary/key.p8" }
appStore: { productionURL: "http://127.0.0.1:$production", sandboxURL: "http://127.0.0.1:$sandbox" }
workers:
  refunds: { retryDelays: [1s, 10s] }
console: { port: $console }
ingress: { host: 127.0.0.1, port: $ingress }
admin: { host: 127.0.0.1, port: $admin }
YAML
}
configuration "" "$kafka_servers" >"$temporary/administrator.yaml"
for process in "${processes[@]}"; do
  configuration "millrace-$process" "$sasl" >"$temporary/$process.yaml"
done

say "Creating the topics, and granting the printed rights"
"$bin/millrace" topics apply --yes --config "$temporary/administrator.yaml" >"$temporary/topics.log" 2>&1 ||
  { cat "$temporary/topics.log" >&2; die "could not create the topics"; }
"$bin/millrace" topics acls --config "$temporary/administrator.yaml" --format kafka-acls \
  "${processes[@]/#/--process=millrace-}" >"$temporary/acls.sh"
# shellcheck source=/dev/null
. "$temporary/acls.sh"
note "$(grep -c '^kafka-acls.sh' "$temporary/acls.sh") commands"

logs() { tail -n 20 "$temporary"/*.log >&2; }
# ready PROCESS PORT waits until a process is ready.
ready() {
  curl --silent --fail --retry 60 --retry-all-errors --retry-delay 1 --retry-max-time 60 \
    "http://127.0.0.1:$2/readyz" >/dev/null 2>&1 || { logs; die "$1 did not become ready with the printed rights"; }
}
# refused NAME prints what the broker refused to a process. A client without a group still asks for the coordinator of a
# group that it never joins.
refused() {
  cat "$temporary/kafka"/node*.log | grep -F "User:millrace-$1 is Denied" | grep -vF -e "-unsubscribed " || [ $? -eq 1 ]
}

say "Running the processes with exactly these rights"
start "$temporary/simulator.log" "$bin/appstore-simulator" run "$temporary/scenario.yaml" --port "$production" \
  --sandbox-port "$sandbox" --write-root "$temporary/root.pem" --write-sent "$temporary/sent.jsonl" \
  --write-api-key "$temporary/key.p8" --write-clock "$temporary/clock.yaml"
simulator=$!
for file in root.pem key.p8 clock.yaml; do
  wait_for_file "$temporary/$file" "$simulator" 30 || { logs; die "the simulator wrote no $file"; }
done
start "$temporary/ingress.log" "$bin/millrace-ingress" --config "$temporary/ingress.yaml"
first=$!
refunds_admin=$(free_port)
MILLRACE_ADMIN_PORT=$refunds_admin start "$temporary/refunds.log" "$bin/millrace-refunds" --config "$temporary/refunds.yaml"
second=$!
ready ingress "$admin"
ready refunds "$refunds_admin"
timeout 90 "$bin/millrace" listen --config "$temporary/administrator.yaml" --topic "${prefix}appstore.events.refunds" \
  --from earliest --limit 20 --json >"$temporary/events.jsonl" 2>"$temporary/listen.log" ||
  { logs; die "only $(wc -l <"$temporary/events.jsonl") of 20 refunds became events"; }
note "20 refunds became events"
console_admin=$(free_port)
MILLRACE_ADMIN_PORT=$console_admin start "$temporary/console.log" "$bin/millrace-console" --config "$temporary/console.yaml"
third=$!
ready console "$console_admin"
ready_at=$SECONDS
until curl --silent --fail --header 'X-Forwarded-User: operator' "http://127.0.0.1:$console/" | grep '>refunds<' >/dev/null; do
  [ "$SECONDS" -lt "$((ready_at + 60))" ] || { logs; die "the console does not show the worker"; }
  sleep 0.3
done
note "the console shows the worker"
cat "$temporary/clock.yaml" >>"$temporary/backfill.yaml"
"$bin/millrace" backfill --from 1h --config "$temporary/backfill.yaml" --json >"$temporary/backfill.jsonl" 2>"$temporary/backfill.log" ||
  { logs; die "the backfill failed with the printed rights"; }
grep -q '"state":"done"' "$temporary/backfill.jsonl" || { logs; die "the backfill did not complete"; }
note "a backfill read Apple's history"
stop "$simulator" || die "the simulator ended with status $?"
for process in "${processes[@]}"; do
  found=$(refused "$process")
  [ -z "$found" ] || { printf '%s\n' "$found" >&2; die "the broker refused something to $process"; }
done
note "the broker refused nothing"
stop "$first" || die "the ingress ended with status $?"
stop "$second" || die "the worker ended with status $?"
stop "$third" || die "the console ended with status $?"

# missing PROCESS TEXT OPTION... takes a right away. The process must print the text, a basic regular expression, in its
# log or on /readyz.
missing() {
  local process=$1 text=$2 log=$temporary/without.log pid said end=$((SECONDS + 60))
  local right=(--allow-principal "User:millrace-$process" "${@:3}")
  kafka-acls.sh --bootstrap-server "$BOOTSTRAP" --remove --force "${right[@]}"
  start "$log" "$bin/millrace-$process" --config "$temporary/$process.yaml"
  pid=$!
  until said=$(cat "$log"; curl --silent "http://127.0.0.1:$admin/readyz" || true) && grep -q -e "$text" <<<"$said"; do
    [ "$SECONDS" -lt "$end" ] || { tail -n 20 "$log" >&2; die "$process without ${*:3} does not say \"$text\""; }
    [ "$process" = refunds ] || curl --silent --output /dev/null --max-time 5 --data-binary "@$temporary/body.json" \
      --header 'Content-Type: application/json' "http://127.0.0.1:$ingress/v2" || true
    sleep 0.3
  done
  stop "$pid" || true
  kafka-acls.sh --bootstrap-server "$BOOTSTRAP" --add "${right[@]}"
  note "$process without ${*:3}: $text"
}
python3 -c 'import json, sys; print(json.loads(sys.stdin.readline())["body"], end="")' \
  <"$temporary/sent.jsonl" >"$temporary/body.json"

say "Taking one right after the other away"
prefixed=(--resource-pattern-type prefixed)
undescribed="the topic is missing, or this process may not describe it"
missing ingress "send to ${prefix}appstore.notifications.refunds: .*Topic authorization failed" \
  --operation Write --topic "${prefix}appstore.notifications." "${prefixed[@]}"
missing ingress "read topic settings (DescribeConfigs): ${prefix}millrace.quarantine: Topic authorization failed" \
  --operation DescribeConfigs --topic "${prefix}millrace.quarantine"
missing refunds "${prefix}appstore.notifications.refunds: $undescribed" \
  --operation Read --topic "${prefix}appstore.notifications.refunds"
missing refunds "${prefix}appstore.entitlements: $undescribed" --operation Write --topic "${prefix}appstore.entitlements"
missing refunds "${prefix}millrace.audit: $undescribed" --operation Write --topic "${prefix}millrace.audit"
missing refunds "read ${prefix}millrace.control.*: Broker: Topic authorization failed" \
  --operation Read --topic "${prefix}millrace.control"
missing refunds "send to ${prefix}millrace.refunds.ledger: Broker: Topic authorization failed" \
  --operation Write --topic "${prefix}millrace.refunds." "${prefixed[@]}"
missing refunds "(DescribeConfigs): ${prefix}millrace.refunds." \
  --operation DescribeConfigs --topic "${prefix}millrace.refunds." "${prefixed[@]}"
missing refunds "join the group ${prefix}millrace.refunds: " --operation Read --group "${prefix}millrace.refunds"
missing refunds "initialize transactions of ${prefix}millrace.refunds." \
  --operation Write --transactional-id "${prefix}millrace.refunds." "${prefixed[@]}"
# Otherwise the logs would not show a refusal above either.
[ -n "$(refused ingress)" ] || die "the brokers' logs do not show what they refused to the ingress"
say "Each process ran with exactly its rights, and named each missing one"
