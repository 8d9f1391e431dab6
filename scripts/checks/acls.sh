#!/usr/bin/env bash
# Runs processes with exactly the rights that `millrace topics acls` prints, on three nodes of a real Kafka.
# The brokers authenticate each process and each operator (SCRAM), and refuse everything that no ACL allows. The check runs
# these parts, and the brokers must refuse nothing on the way:
#
# - The scenario of scripts/demo, with its forgeries, through the ingress: all is in Kafka, byte for byte.
# - A worker with a wrong configuration writes dead letters. An operator discards one and requeues the others.
# - kill -9 of the worker and the ingress while refunds arrive: each refund becomes an event exactly once.
# - A replay of all refunds, plainly and with --reapply; the audit trail; the console; a backfill from Apple's history.
#
# Then the script takes one right after the other away, and the process must name what it may not use.
#
#   scripts/check acls    about five minutes; needs an installed Apache Kafka (see scripts/kafka), or it exits with 3
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=scripts/scram.sh
. "$root/scripts/scram.sh"

[ $# -eq 0 ] || usage
cd "$root"
scripts/kafka found >/dev/null || exit $?
need_swift
need_packages "${build_packages[@]}" curl kcat python3

build_programs millrace millrace-ingress millrace-refunds millrace-console millrace-scenarios appstore-simulator
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-acls.XXXXXX")
clean_up_at_exit
# All names have the prefix of a deployment.
prefix=trial-
notifications=${prefix}appstore.notifications.refunds events=${prefix}appstore.events.refunds
processes=(ingress refunds console backfill)
operators=(cli-listen cli-dead-letters cli-replay cli-audit)

logs() { tail -n 20 "$temporary"/*.log >&2; }
# fail MESSAGE ends the check, and prints the logs and what the brokers refused.
fail() {
  logs
  cat "$temporary/kafka"/node*.log | grep -F ' is Denied ' | tail -n 20 >&2 || true
  die "$*"
}
# wait_for SECONDS MESSAGE COMMAND... waits until a command succeeds.
wait_for() {
  local end=$((SECONDS + $1))
  until "${@:3}"; do
    [ "$SECONDS" -lt "$end" ] || fail "$2"
    sleep 0.2
  done
}

say "Starting three nodes of Kafka with a listener that authenticates, and with an authorizer"
ingress=$(free_port) admin=$(free_port) production=$(free_port) sandbox=$(free_port) console=$(free_port)
refunds_admin=$(free_port) console_admin=$(free_port)
start_scram_kafka "$temporary/kafka" --nodes 3 \
  --set authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer \
  --set super.users=User:ANONYMOUS
export BOOTSTRAP=$kafka_servers
# Under the name that `millrace topics acls` prints. Returns when every node knows the change.
kafka-acls.sh() {
  kafka_tool acls "$@"
  python3 scripts/checks/acls/applied.py "$@"
}

# configuration USER SERVERS prints the configuration of a process.
configuration() {
  cat <<YAML
kafka:
  bootstrapServers: "$2"
  ${1:+properties: $(scram_properties "$1")}
topics: { prefix: $prefix, lanes: 2 }
# Some forgeries of the demo are tokens inside a genuine notification.
trust: { roots: ["$demo/root.pem"], innerTokens: verified }
apps:
  - bundleId: com.example.app
    appAppleId: 1234567890
    environments: [Production]
    api: { issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: SIMULATOR1, privateKeyFile: "$temporary/key.p8" }
  - bundleId: com.example.legacy
    appAppleId: 1234567891
    environments: [Production]
    sharedSecretFiles: ["$demo/shared-secret"]
appStore: { productionURL: "http://127.0.0.1:$production", sandboxURL: "http://127.0.0.1:$sandbox" }
workers:
  refunds: { retryDelays: [1s, 10s] }
console: { port: $console }
ingress: { host: 127.0.0.1, port: $ingress }
admin: { host: 127.0.0.1, port: $admin }
YAML
}

say "Creating the topics, and granting the printed rights"
# The directory of `millrace-scenarios demo`, whose configuration is the administrator's.
demo=$temporary/demo administrator=$temporary/demo/millrace.yaml
mkdir "$demo"
"$bin/millrace-scenarios" demo prepare --directory "$demo" --bootstrap-servers "$kafka_servers" --topics "$root/topics"
configuration "" "$kafka_servers" >"$administrator"
"$bin/millrace" topics apply --yes --config "$administrator" >"$temporary/topics.log" 2>&1 || fail "could not create the topics"
# add_user PROCESS creates the user of a process.
add_user() {
  configuration "millrace-$1" "$scram_servers" >"$temporary/$1.yaml"
  add_scram_user "millrace-$1"
}
# grant PROCESS runs the printed commands of a process.
grant() {
  "$bin/millrace" topics acls --config "$administrator" --format kafka-acls --process "millrace-$1" >"$temporary/$1.acls"
  # shellcheck source=/dev/null
  . "$temporary/$1.acls"
}
add_user ingress
grant ingress
granting=()
for process in "${processes[@]:1}" "${operators[@]}"; do
  { add_user "$process" && grant "$process"; } &
  granting+=($!)
done
for process in "${granting[@]}"; do wait "$process" || fail "could not grant rights"; done
granted=$(cat "$temporary"/*.acls | grep -c '^kafka-acls.sh')
note "$granted commands for ${#processes[@]} processes and ${#operators[@]} commands of operators"

# ready PROCESS PORT waits until a process is ready.
ready() {
  curl --silent --fail --retry 60 --retry-all-errors --retry-delay 1 --retry-max-time 60 \
    "http://127.0.0.1:$2/readyz" >/dev/null 2>&1 || fail "$1 did not become ready with the printed rights"
}
# operator COMMAND ARGUMENT... runs a command of an operator with the rights of this command.
operator() { "$bin/millrace" "$@" --config "$temporary/cli-$1.yaml" 2>>"$temporary/cli-$1.log"; }
# start_simulator SCENARIO OPTION... starts a simulated App Store, and sets `simulator`.
start_simulator() {
  start "$temporary/simulator.log" "$bin/appstore-simulator" run "$@" --chain "$demo/chain.pem"
  simulator=$!
}
starts=0
# start_ingress, start_worker [CONFIGURATION] start a process, and set a variable to its id. The worker keeps its place in
# its group, as a pod of a StatefulSet does.
start_ingress() {
  start "$temporary/ingress-$((++starts)).log" "$bin/millrace-ingress" --config "$temporary/ingress.yaml"
  ingress_pid=$!
}
start_worker() {
  MILLRACE_ADMIN_PORT=$refunds_admin MILLRACE_KAFKA_INSTANCE=refunds-0 start "$temporary/refunds-$((++starts)).log" \
    "$bin/millrace-refunds" --config "${1:-$temporary/refunds.yaml}"
  worker_pid=$!
}
# headers TOPIC NAME [OPTION...] prints a header of each record that a reader of committed records sees.
headers() {
  kcat -C -b "$kafka_servers" -t "$1" -X isolation.level=read_committed "${@:3}" -o beginning -e -q -f '%h\n' \
    2>>"$temporary/kcat.log" | grep -o "$2=[^,]*" | cut -d = -f 2 || true
}
distinct() { headers "$@" | sort -u | wc -l; }
# has_events COUNT: events of this many notifications are published.
has_events() { [ "$(distinct "$events" ce_notificationid)" -ge "$1" ]; }

say "The demo's scenario: notifications of every kind, and forgeries"
start_ingress
ready ingress "$admin"
start_simulator scenarios/demo.yaml --target "http://127.0.0.1:$ingress/v2" --target-v1 "http://127.0.0.1:$ingress/v1" \
  --shared-secret "$demo/shared-secret" --write-sent "$demo/sent.jsonl" --report "$demo/report.json"
wait "$simulator" || fail "the simulator ended with an error"
"$bin/millrace-scenarios" demo forge --directory "$demo" >"$temporary/forge.log" || fail "the ingress accepted a forgery"
"$bin/millrace-scenarios" demo check --every-kind --directory "$demo" || fail "Kafka does not have what the App Store sent"
accepted=$(grep -c '"status":200' "$demo/sent.jsonl")
"$bin/millrace" listen --from earliest --limit "$accepted" --json --config "$temporary/cli-listen.yaml" \
  >"$temporary/listen.jsonl" 2>"$temporary/listen.log" || fail "millrace listen failed"
note "millrace listen shows $(wc -l <"$temporary/listen.jsonl") records"

say "Dead letters of a worker that does not know the environment"
cat >"$temporary/scenario.yaml" <<YAML
description: Customers whose purchases the check of rights refunds.
seed: 1
# Apple's first retry comes after an hour, here after six seconds.
clock: { rate: 600 }
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
    - { count: 400, products: [com.example.app.coins], since: 10d }
YAML
start_simulator "$temporary/scenario.yaml" --port "$production" --sandbox-port "$sandbox" \
  --write-sent "$temporary/sent.jsonl" --write-api-key "$temporary/key.p8" --write-clock "$temporary/clock.yaml"
for file in key.p8 clock.yaml; do
  wait_for_file "$temporary/$file" "$simulator" 30 || fail "the simulator wrote no $file"
done
sed 's/\[Production\]/[Sandbox]/' "$temporary/refunds.yaml" >"$temporary/wrong.yaml"
# open_letters COUNT lists the open dead letters in open.jsonl, and fails unless there are so many.
open_letters() {
  operator dead-letters list --worker refunds --open --each --json >"$temporary/open.jsonl" || fail "the list failed"
  [ "$(wc -l <"$temporary/open.jsonl")" -eq "$1" ]
}
# The id of a version 2 notification is a UUID. The worker verifies no signature of version 1, which has none.
letters=$(headers "$notifications" ce_id | grep -c '^........-....-....-....-............$')
start_worker "$temporary/wrong.yaml"
wait_for 60 "the worker did not write $letters dead letters" open_letters "$letters"
stop "$worker_pid" || fail "the worker ended with status $?"
start_worker
ready refunds "$refunds_admin"
# The demo sends some notifications twice. The check discards one of two copies, so each notification has its event.
letter=$(python3 -c 'import json, sys
seen = set()
for letter in map(json.loads, sys.stdin):
    if letter["notificationId"] in seen:
        print(letter["id"])
        break
    seen.add(letter["notificationId"])' <"$temporary/open.jsonl")
[ -n "$letter" ] || fail "the demo sent no refund twice"
operator dead-letters discard "$letter" --worker refunds --why "a copy" --by ann --json >/dev/null || fail "the discard failed"
operator dead-letters requeue --all --worker refunds --why "the environment is mended" --by ann --json >/dev/null ||
  fail "the requeue failed"
open_letters 0 || fail "$(wc -l <"$temporary/open.jsonl") dead letters are still open"
wait_for 60 "the requeued notifications have no events" has_events "$(distinct "$notifications" ce_id)"
note "$letters dead letters: 1 discarded, $((letters - 1)) requeued"

# exactly_once prints the numbers of notifications and events, and fails unless each notification has exactly one event.
exactly_once() {
  headers "$notifications" ce_id >"$temporary/notifications"
  headers "$events" ce_notificationid | sort >"$temporary/events"
  local distinct repeated other
  distinct=$(sort -u "$temporary/notifications" | wc -l)
  repeated=$(cat <(uniq -d "$temporary/events") <(headers "$events" ce_id | sort | uniq -d) | wc -l)
  other=$(comm -3 <(sort -u "$temporary/notifications") <(uniq "$temporary/events") | wc -l)
  [ "$repeated" -eq 0 ] || fail "$repeated events were published twice"
  [ "$other" -eq 0 ] || fail "$other notifications have no event, or events have no notification"
  echo "$(wc -l <"$temporary/notifications") records of $distinct notifications, $(wc -l <"$temporary/events") events, 0 repeated"
}

say "Killing the worker four times and the ingress twice while refunds arrive"
before=$(distinct "$notifications" ce_id)
had=$before ordered=0 midway=0
for round in 1 2 3 4; do
  # Fifty refunds in ten seconds.
  curl --silent --show-error --fail --output /dev/null --data '{"do": "refund", "count": 50, "for": "100m"}' \
    "http://127.0.0.1:$production/simulator/events" || fail "the simulator refused an event"
  ordered=$((ordered + 50))
  wait_for 60 "the worker published no events in round $round" has_events $((had + 10))
  killed=("$worker_pid")
  case $round in 2 | 3) killed+=("$ingress_pid") ;; esac
  kill -KILL "${killed[@]}"
  # Otherwise the shell prints a line about each.
  wait "${killed[@]}" 2>/dev/null || true
  had=$(distinct "$events" ce_notificationid)
  [ "$had" -eq $((before + ordered)) ] || midway=$((midway + 1))
  note "killed the worker$([ ${#killed[@]} -eq 1 ] || echo " and the ingress") after $((had - before)) of $ordered events"
  case $round in 2 | 3) start_ingress ;; esac
  start_worker
done
[ "$midway" -ge 2 ] || fail "only $midway of the killed workers had events left to publish"
# all_delivered: the ingress has answered every ordered refund with 200.
all_delivered() {
  [ "$(grep '"status":200' "$temporary/sent.jsonl" | grep -o '"notificationUUID":"[^"]*"' | sort -u | wc -l)" -eq "$ordered" ]
}
wait_for 150 "not all refunds were answered with 200" all_delivered
wait_for 60 "not all refunds became events" has_events $((before + ordered))
failed=$(grep -vc '"status":200' "$temporary/sent.jsonl" || true)
note "$failed of $(wc -l <"$temporary/sent.jsonl") posts failed, and were repeated"
aborted=$(($(headers "$events" ce_id -X isolation.level=read_uncommitted | wc -l) - $(headers "$events" ce_id | wc -l)))
once=$(exactly_once)
note "$once; $aborted events of aborted transactions, which no reader of committed records sees"

say "Replaying the refunds to the worker"
ready refunds "$refunds_admin"
# outcomes NAME prints how many records the worker has finished with an outcome.
outcomes() {
  curl --silent "http://127.0.0.1:$refunds_admin/metrics" |
    awk -v name="outcome=\"$1\"" 'index($0, "millrace_worker_records_total{") && index($0, name) { sum += $NF } END { print sum + 0 }'
}
has_outcomes() { [ "$(outcomes "$1")" -ge "$2" ]; }
records=$(headers "$notifications" ce_id | wc -l)
# replay OUTCOME OPTION... replays all refunds, and waits until the worker has given each this outcome.
replay() {
  local before sent
  before=$(outcomes "$1")
  operator replay --worker refunds --family refunds --by ann --json "${@:2}" >"$temporary/replay.jsonl" ||
    fail "the replay failed"
  sent=$(tail -n 1 "$temporary/replay.jsonl" | grep -o '"sent":[0-9]*')
  [ "$sent" = "\"sent\":$records" ] || fail "the replay sent ${sent#*:} of $records records"
  wait_for 60 "the worker did not handle the replayed records" has_outcomes "$1" $((before + records))
  [ "$(exactly_once)" = "$once" ] || fail "the replay changed the events: $(exactly_once), before: $once"
  note "$records records with the outcome $1, and no other event"
}
replay skipped-duplicate
replay "done" --reapply "the check asks for it"
operator audit --json >"$temporary/audit.jsonl" || fail "millrace audit failed"
for action in discard requeue replay reapply; do
  grep "\"action\":\"$action\"" "$temporary/audit.jsonl" | grep '"by":"ann"' | grep '"result":"done"' >/dev/null ||
    fail "the audit trail does not have the $action"
done
note "the audit trail has $(wc -l <"$temporary/audit.jsonl") actions"

say "The console and a backfill"
MILLRACE_ADMIN_PORT=$console_admin start "$temporary/console.log" "$bin/millrace-console" --config "$temporary/console.yaml"
console_pid=$!
ready console "$console_admin"
shows_worker() {
  curl --silent --fail --header 'X-Forwarded-User: operator' "http://127.0.0.1:$console/" | grep '>refunds<' >/dev/null
}
wait_for 60 "the console does not show the worker" shows_worker
note "the console shows the worker"
cat "$temporary/clock.yaml" >>"$temporary/backfill.yaml"
"$bin/millrace" backfill --from 12h --json --config "$temporary/backfill.yaml" \
  >"$temporary/backfill.jsonl" 2>"$temporary/backfill.log" || fail "the backfill failed with the printed rights"
grep -q '"state":"done"' "$temporary/backfill.jsonl" || fail "the backfill did not complete"
note "a backfill read Apple's history"

say "What the brokers refused"
stop "$simulator" || fail "the simulator ended with status $?"
# refused NAME prints what the broker refused to a process. A client without a group still asks for the coordinator of a
# group that it never joins.
refused() {
  cat "$temporary/kafka"/node*.log | grep -F "User:millrace-$1 is Denied" | grep -vF -e "-unsubscribed " || [ $? -eq 1 ]
}
for process in "${processes[@]}" "${operators[@]}"; do
  found=$(refused "$process")
  [ -z "$found" ] || { printf '%s\n' "$found" >&2; fail "the brokers refused something to $process"; }
done
note "nothing to ${processes[*]} ${operators[*]}"
stop "$ingress_pid" || fail "the ingress ended with status $?"
stop "$worker_pid" || fail "the worker ended with status $?"
stop "$console_pid" || fail "the console ended with status $?"

say "Taking one right after the other away"
python3 -c 'import json, sys; print(json.loads(sys.stdin.readline())["body"], end="")' \
  <"$temporary/sent.jsonl" >"$temporary/body.json"
# run PROCESS LOG starts a process or an operator's command.
run() {
  local command=("$bin/millrace-$1")
  case $1 in
  backfill) command=("$bin/millrace" backfill --from 12h) ;;
  cli-audit) command=("$bin/millrace" audit) ;;
  cli-dead-letters) command=("$bin/millrace" dead-letters list --worker refunds) ;;
  cli-listen) command=("$bin/millrace" listen) ;;
  cli-replay) command=("$bin/millrace" replay --worker refunds --family refunds --wait 1s) ;;
  esac
  MILLRACE_KAFKA_INSTANCE=$1-0 start "$2" "${command[@]}" --config "$temporary/$1.yaml"
}
# missing PROCESS TEXT OPTION... takes a right away. The process must print the text, a basic regular expression, in its
# log or on /readyz.
missing() {
  local process=$1 text=$2 log=$temporary/without.log pid said has_ended=false end=$((SECONDS + 60))
  local right=(--allow-principal "User:millrace-$process" "${@:3}")
  kafka-acls.sh --bootstrap-server "$BOOTSTRAP" --remove --force "${right[@]}"
  # Otherwise the loop could read the log of the previous process.
  : >"$log"
  run "$process" "$log"
  pid=$!
  until said=$(cat "$log"; curl --silent "http://127.0.0.1:$admin/readyz" || true) && grep -q -e "$text" <<<"$said"; do
    ! $has_ended && [ "$SECONDS" -lt "$end" ] || { tail -n 20 "$log" >&2; die "$process without ${*:3} does not say \"$text\""; }
    # The log may get its last line after it was read.
    kill -0 "$pid" 2>/dev/null || has_ended=true
    [ "$process" != ingress ] || curl --silent --output /dev/null --max-time 5 --data-binary "@$temporary/body.json" \
      --header 'Content-Type: application/json' "http://127.0.0.1:$ingress/v2" || true
    sleep 0.3
  done
  stop "$pid" || true
  kafka-acls.sh --bootstrap-server "$BOOTSTRAP" --add "${right[@]}"
  note "$process without ${*:3}: $text"
}
prefixed=(--resource-pattern-type prefixed)
undescribed="the topic is missing, or this process may not describe it"
missing ingress "send to $notifications: .*Topic authorization failed" \
  --operation Write --topic "${prefix}appstore.notifications." "${prefixed[@]}"
missing ingress "read topic settings (DescribeConfigs): ${prefix}millrace.quarantine: Topic authorization failed" \
  --operation DescribeConfigs --topic "${prefix}millrace.quarantine"
missing refunds "$notifications: $undescribed" --operation Read --topic "$notifications"
missing refunds "${prefix}appstore.entitlements: $undescribed" --operation Write --topic "${prefix}appstore.entitlements"
missing refunds "$events: $undescribed" --operation Write --topic "$events"
missing refunds "${prefix}millrace.audit: $undescribed" --operation Write --topic "${prefix}millrace.audit"
missing refunds "read ${prefix}millrace.control.*: Broker: Topic authorization failed" \
  --operation Read --topic "${prefix}millrace.control"
missing refunds "read ${prefix}millrace.operations.*: Broker: Topic authorization failed" \
  --operation Read --topic "${prefix}millrace.operations"
missing refunds "send to ${prefix}millrace.refunds.ledger: Broker: Topic authorization failed" \
  --operation Write --topic "${prefix}millrace.refunds." "${prefixed[@]}"
missing refunds "(DescribeConfigs): ${prefix}millrace.refunds." \
  --operation DescribeConfigs --topic "${prefix}millrace.refunds." "${prefixed[@]}"
missing refunds "join the group ${prefix}millrace.refunds: " --operation Read --group "${prefix}millrace.refunds"
missing refunds "initialize transactions of ${prefix}millrace.refunds." \
  --operation Write --transactional-id "${prefix}millrace.refunds." "${prefixed[@]}"
missing backfill "read ${prefix}millrace.backfills.*: Broker: Topic authorization failed" \
  --operation Read --topic "${prefix}millrace.backfills"
# --all needs the right to all of Millrace's topics, which contains the one to the quarantine.
kafka-acls.sh --bootstrap-server "$BOOTSTRAP" --remove --force --allow-principal User:millrace-cli-listen --operation Read \
  --topic "${prefix}millrace.quarantine"
missing cli-listen "${prefix}millrace.quarantine does not exist" --operation Read --topic "${prefix}millrace." "${prefixed[@]}"
missing cli-dead-letters "read ${prefix}millrace.operations.*: Broker: Topic authorization failed" \
  --operation Read --topic "${prefix}millrace.operations"
missing cli-replay "initialize transactions of ${prefix}millrace.replay.*Transactional Id authorization failed" \
  --operation Write --transactional-id "${prefix}millrace.replay." "${prefixed[@]}"
missing cli-replay "send to .*${prefix}millrace.operations.*Topic authorization failed" \
  --operation Write --topic "${prefix}millrace.operations"
missing console "read ${prefix}millrace.backfills.*: Broker: Topic authorization failed" \
  --operation Read --topic "${prefix}millrace.backfills"
# Without the right to write its history, the console says so once and goes on. The console above has written the sample
# of these five minutes.
control=(--allow-principal User:millrace-console --operation Write --topic "${prefix}millrace.control")
kafka-acls.sh --bootstrap-server "$BOOTSTRAP" --remove --force "${control[@]}"
slot=$(($(date +%s) / 300 % 288))
printf 'history/%s\t\n' "$slot" "$(((slot + 1) % 288))" |
  kcat -P -Z -b "$kafka_servers" -t "${prefix}millrace.control" -p 0 -K "$(printf '\t')"
refused_before=$(refused console | grep -cF millrace.control || true)
MILLRACE_ADMIN_PORT=$console_admin run console "$temporary/history.log"
console_pid=$!
# The second attempt is half a minute after the first one.
tried_twice() { [ "$(refused console | grep -cF millrace.control || true)" -ge $((refused_before + 2)) ]; }
wait_for 120 "the console did not try to write its history twice" tried_twice
[ "$(grep -c 'could not write the history.*Topic authorization failed' "$temporary/history.log")" -eq 1 ] ||
  fail "the console without the right to write ${prefix}millrace.control does not say so once"
shows_problem() {
  curl --silent --fail --header 'X-Forwarded-User: operator' "http://127.0.0.1:$console/" |
    grep 'no new samples: .*Topic authorization failed' >/dev/null
}
wait_for 10 "the first page does not say why there are no samples" shows_problem
wait_for 10 "the console does not show the worker" shows_worker
ready console "$console_admin"
stop "$console_pid" || fail "the console ended with status $?"
kafka-acls.sh --bootstrap-server "$BOOTSTRAP" --add "${control[@]}"
note "console without ${control[*]:2}: says once that it keeps no history, and goes on"
missing cli-audit "${prefix}millrace.audit: no such topic" --operation Read --topic "${prefix}millrace.audit"
# Otherwise the logs would not show a refusal above either.
[ -n "$(refused ingress)" ] || die "the brokers' logs do not show what they refused to the ingress"
say "Each process ran with exactly its rights, and named each missing one"
