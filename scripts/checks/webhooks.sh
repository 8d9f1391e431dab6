#!/usr/bin/env bash
# Posts the events of an hour to two webhooks.
# A simulated App Store posts notifications to the ingress, the worker subscriptions publishes events, and two processes
# of millrace-worker post them; one stops in the middle. The receiver
# of one webhook is down at first, then fails and loses answers. The other webhook receives only the events that begin
# with subscription.re. Each receiver must get every event of its webhook with a valid signature, and those of a key in
# the order of the topic. A paused webhook must post nothing.
#
#   scripts/check webhooks             exits with 0 if no event is missing or out of order
#   scripts/check webhooks --seed 7    with other failures
#
# With KAFKA_BOOTSTRAP_SERVERS=host:port it runs on a real cluster, with transactions, and with kill -9 instead of
# SIGTERM.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

need_swift
need_packages "${build_packages[@]}" python3 kcat
cd "$root"
seed=1
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || die "$1 needs a number"
  case "$1" in
  --seed) seed=$2 ;;
  *) usage "[--seed N]" ;;
  esac
  shift 2
done

build_programs millrace millrace-ingress millrace-subscriptions millrace-worker appstore-simulator millrace-scenarios

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-webhooks.XXXXXX")
clean_up_at_exit
config=$temporary/millrace.yaml
demo() { "$bin/millrace-scenarios" demo "$1" --directory "$temporary" "${@:2}"; }
logs() { tail -n 20 "$temporary"/*.log >&2; }

say "Starting the receivers, a Kafka cluster, the ingress and the worker subscriptions"
# receiver NAME DOWN starts a receiver that answers 503 to the first posts.
receiver() {
  printf 'whsec_%s\n' "$(head -c 32 /dev/urandom | base64)" >"$temporary/$1.secret"
  start "$temporary/$1-receiver.log" python3 scripts/checks/webhook-receiver.py "$temporary/$1.port" \
    "$temporary/$1.taken" "$seed" "$temporary/$1.secret" "$2"
  wait_for_file "$temporary/$1.port" "$!" 120 || { logs; die "the receiver $1 did not start"; }
}
receiver crm 8
receiver shop 0
export MILLRACE_TOPICS_DIRECTORY=$root/topics MILLRACE_TOPICS_LANES=4 MILLRACE_KAFKA_DURABILITY=relaxed
policy='retryDelays: [200ms, 1s], maximumAttempts: 1000'
export MILLRACE_WORKERS="{subscriptions: {}, webhook-crm: {$policy}, webhook-shop: {$policy}}"
export MILLRACE_WEBHOOKS="{
  crm: {url: \"http://127.0.0.1:$(cat "$temporary/crm.port")/\", secretFile: \"$temporary/crm.secret\",
    refusedAttempts: 1000},
  shop: {url: \"http://127.0.0.1:$(cat "$temporary/shop.port")/\", secretFile: \"$temporary/shop.secret\",
    events: [\"subscription.re*\"], refusedAttempts: 1000}}"
signal=TERM
if [ -n "${KAFKA_BOOTSTRAP_SERVERS:-}" ]; then
  signal=KILL
  # A short session, so that the group notices a killed process soon.
  export MILLRACE_KAFKA_PROPERTIES='{session.timeout.ms: 6000, heartbeat.interval.ms: 500}'
fi
use_cluster webhooks
demo prepare --bootstrap-servers "$bootstrap" --topics "$root/topics" >/dev/null
start "$temporary/ingress.log" "$bin/millrace-ingress" --config "$config"
demo wait-ready || { logs; die "the ingress did not become ready"; }
ingress=$(sed -n 's/^ingress: { host: \(.*\), port: \(.*\) }.*/http:\/\/\1:\2/p' "$config")
MILLRACE_ADMIN_PORT=0 start "$temporary/subscriptions.log" "$bin/millrace-subscriptions" --config "$config"

webhooks() { "$bin/millrace" webhooks "$@" --config "$config"; }
# taken NAME prints the number of different events that a receiver has.
taken() { cut -f 2 "$temporary/$1.taken" | sort -u | wc -l; }
# published PATTERN prints lane, offset, key and id of the events whose type matches.
published() {
  kcat -C -q -e -b "$bootstrap" -t "${MILLRACE_TOPICS_PREFIX:-}appstore.events.subscriptions" -o beginning \
    -X isolation.level=read_committed -f '%p\t%o\t%k\t%h\n' |
    sed -nE "s/^([0-9]+\t[0-9]+\t[^\t]+)\t.*ce_id=([^,]+),.*ce_type=($1),.*/\1\t\2/p" | sort -n -k 1,1 -k 2,2
}
# until_taken NAME COUNT waits until a receiver has this many events.
until_taken() {
  local end=$((SECONDS + 120))
  until [ "$(taken "$1")" -ge "$2" ]; do
    [ "$SECONDS" -lt "$end" ] || { logs; die "the receiver $1 has $(taken "$1") of $2 events after two minutes"; }
    sleep 0.2
  done
}

say "Simulating an hour of the App Store in six seconds, with two processes"
for number in 1 2; do
  MILLRACE_ADMIN_PORT=0 start "$temporary/worker-$number.log" "$bin/millrace-worker" --config "$config"
  [ "$number" = 2 ] || first=$!
done
start "$temporary/simulator.log" "$bin/appstore-simulator" run scenarios/demo.yaml --seed "$seed" \
  --chain "$temporary/chain.pem" --target "$ingress/v2" --target-v1 "$ingress/v1" \
  --shared-secret "$temporary/shared-secret" --write-sent "$temporary/sent.jsonl"
simulator=$!
until_taken crm 10
kill "-$signal" "$first"
wait "$first" 2>/dev/null || [ "$signal" = KILL ] || die "millrace-worker ended with status $? after SIGTERM"
webhooks pause shop
# The process asks Kafka once a second, and posts that have begun end.
sleep 3
paused=$(taken shop)
wait "$simulator" || { cat "$temporary/simulator.log" >&2; die "the simulator ended with an error"; }
sleep 2
[ "$(taken shop)" -eq "$paused" ] || die "the paused webhook posted $(($(taken shop) - paused)) events"
webhooks list --json | grep '"shop"' | grep '"paused":true' >/dev/null || die "millrace webhooks list does not show the pause"
webhooks resume shop

say "Comparing the receivers' events with the topic"
# The worker subscriptions may still publish: wait until the number of its events stands still.
before=-1 count=$(published '.*' | wc -l)
while [ "$count" -ne "$before" ]; do
  sleep 3
  before=$count count=$(published '.*' | wc -l)
done
[ "$count" -ge 50 ] || { logs; die "only $count events were published, so the run does not test much"; }
for webhook in crm shop; do
  case $webhook in
  crm) pattern='.*' ;;
  shop) pattern='dev\.millrace\.subscriptions\.subscription\.re[^,]*' ;;
  esac
  published "$pattern" >"$temporary/$webhook.published"
  expected=$(wc -l <"$temporary/$webhook.published")
  [ "$expected" -gt 0 ] || die "no event for the webhook $webhook was published"
  until_taken "$webhook" "$expected"
  python3 - "$temporary/$webhook.published" "$temporary/$webhook.taken" <<'PYTHON' || die "the webhook $webhook is not complete or not in order"
import collections, sys

published, taken = collections.defaultdict(list), collections.defaultdict(list)
for line in open(sys.argv[1]):
    _, _, key, event = line.rstrip("\n").split("\t")
    published[key].append(event)
for line in open(sys.argv[2]):
    key, event, _ = line.rstrip("\n").split("\t")
    if event not in taken[key]:
        taken[key].append(event)
wrong = [key for key in published.keys() | taken.keys() if published[key] != taken[key]]
for key in wrong[:5]:
    print(f"{key}: published {published[key]}, taken {taken[key]}", file=sys.stderr)
sys.exit(1 if wrong else 0)
PYTHON
  note "$webhook: $expected events of $(cut -f 3 "$temporary/$webhook.published" | sort -u | wc -l) keys, in order;" \
    "$(wc -l <"$temporary/$webhook.taken") posts accepted"
done

say "Asking for the state, and posting a test event"
end=$((SECONDS + 60))
until [ "$(webhooks list --json | grep -c '"lag":0,"deadLetters":0,"paused":false')" -eq 2 ]; do
  [ "$SECONDS" -lt "$end" ] || { webhooks list; die "the webhooks are not up to date after a minute"; }
  sleep 1
done
webhooks list
# The receiver may refuse a test event as any other.
for _ in 1 2 3 4 5 6; do webhooks test shop && break; done
grep -q 'dev.millrace.webhooks.webhook.test' "$temporary/shop.taken" || die "no test event arrived"
note "one process of two received SIG$signal; the receiver crm was down for its first 8 posts"
