#!/usr/bin/env bash
# Authenticates every Kafka client with tokens that live ten seconds, on a real Kafka that ends sessions after ten seconds.
# A stub of an OAuth server issues the tokens. It is slow, hangs, ends connections and answers nonsense for a while. Refunds of
# a simulated App Store must become events of the refunds worker, each exactly once. Everything that the ingress answered with
# 200 must be in Kafka. No process may end, and no log may contain a token. Then the tokens of MSK IAM are compared with those of AWS's own
# library.
#
#   scripts/check oauth    about three minutes; needs an installed Apache Kafka (see scripts/kafka), or it exits with 3
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

[ $# -eq 0 ] || usage
cd "$root"
scripts/kafka found >/dev/null || exit $?
need_swift
need_packages "${build_packages[@]}" curl kcat python3 python3-venv

python_environment oauth
build_programs millrace millrace-ingress millrace-refunds millrace-console appstore-simulator
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-oauth.XXXXXX")
clean_up_at_exit
logs() { tail -n 20 "$temporary"/*.log >&2; }

say "Comparing tokens for Amazon MSK with those of AWS's library"
"$python" scripts/checks/oauth/msk_tokens.py --check scripts/checks/oauth/msk-tokens.json

say "Starting Kafka with a listener for tokens, and the token server"
sasl=$(free_port) ingress=$(free_port) admin=$(free_port) worker=$(free_port) console=$(free_port) production=$(free_port)
sandbox=$(free_port) tokens=$(free_port)
login=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule
start_kafka "$temporary/kafka" \
  --set "listeners=PLAINTEXT://127.0.0.1:{port},SASL://127.0.0.1:$sasl,CONTROLLER://127.0.0.1:{control}" \
  --set "advertised.listeners=PLAINTEXT://127.0.0.1:{port},SASL://127.0.0.1:$sasl" \
  --set 'listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT' \
  --set sasl.enabled.mechanisms=OAUTHBEARER \
  --set "listener.name.sasl.oauthbearer.sasl.jaas.config=$login required unsecuredLoginStringClaim_sub=\"broker\";" \
  --set listener.name.sasl.oauthbearer.connections.max.reauth.ms=10000
mode=$temporary/mode
echo good >"$mode"
start "$temporary/tokens.log" "$python" scripts/checks/oauth/token_server.py "$tokens" "$mode" 10
printf 'pass&word\n' >"$temporary/secret"

# 500 refunds in 100 seconds. The sandbox repeats no post, so that a notification that is refused is known.
cat >"$temporary/scenario.yaml" <<YAML
description: Refunds for the check of tokens.
seed: 1
clock: { rate: 60 }
duration: 400m
apps:
  - bundleId: com.example.app
    appAppleId: 1234567890
    environments: [Sandbox]
    notifications:
      Sandbox: { url: "http://127.0.0.1:$ingress/v2" }
    products:
      - { productId: com.example.app.coins, type: consumable, price: 990 }
world:
  customers:
    - { count: 500, products: [com.example.app.coins], since: 10d }
events:
  - { do: refund, after: 20m, for: 100m, count: 500 }
YAML
cat >"$temporary/millrace.yaml" <<YAML
kafka:
  bootstrapServers: "127.0.0.1:$sasl"
  durability: relaxed
  properties: { security.protocol: sasl_plaintext }
  oauth:
    method: oidc
    tokenURL: "http://127.0.0.1:$tokens/token"
    clientId: millrace
    clientSecretFile: "$temporary/secret"
    scope: kafka
topics: { directory: "$root/topics", lanes: 2 }
trust: { roots: ["$temporary/root.pem"] }
apps:
  - { bundleId: com.example.app, environments: [Sandbox] }
workers: { refunds: { retryDelays: [1s, 10s] } }
ingress: { host: 127.0.0.1, port: $ingress }
console: { port: $console }
admin: { host: 127.0.0.1, port: $admin }
logging: { level: info }
YAML
export MILLRACE_CONFIG=$temporary/millrace.yaml

ready() {
  curl --silent --fail --retry 60 --retry-all-errors --retry-delay 1 --retry-max-time 60 \
    "http://127.0.0.1:$1/readyz" >/dev/null 2>&1 || { logs; die "the process at port $1 did not become ready"; }
}
# plan asks for the topics, with admin clients of its own.
plan() { "$bin/millrace" topics plan >"$temporary/plan.log" 2>&1; }

say "Without the server, the error names it"
echo down >"$mode"
! plan || die "millrace topics plan succeeded without a token"
grep -q "no token: http://127.0.0.1:$tokens/token: the server did not answer" "$temporary/plan.log" ||
  { cat "$temporary/plan.log" >&2; die "the error does not name the token server"; }
note "$(grep -m 1 -o 'no token: .*' "$temporary/plan.log")"
echo good >"$mode"

say "Running the ingress, the refunds worker and the console, which are busy for twelve sessions"
"$bin/millrace" topics apply --yes >"$temporary/topics.log" 2>&1 ||
  { cat "$temporary/topics.log" >&2; die "could not create the topics"; }
start "$temporary/simulator.log" "$bin/appstore-simulator" run "$temporary/scenario.yaml" --port "$production" \
  --sandbox-port "$sandbox" --write-root "$temporary/root.pem" --write-sent "$temporary/sent.jsonl"
wait_for_file "$temporary/root.pem" "$!" 30 || { logs; die "the simulator wrote no root"; }
start "$temporary/ingress.log" "$bin/millrace-ingress"
processes=("$!")
MILLRACE_ADMIN_PORT=$worker start "$temporary/refunds.log" "$bin/millrace-refunds"
processes+=("$!")
console_admin=$(free_port)
MILLRACE_ADMIN_PORT=$console_admin start "$temporary/console.log" "$bin/millrace-console"
processes+=("$!")
for port in "$admin" "$worker" "$console_admin"; do ready "$port"; done

begin=$SECONDS
until [ $((SECONDS - begin)) -ge 125 ]; do
  # Each trouble lasts for at most half of a token's time.
  case $((SECONDS - begin)) in
  2[0-9]) now=slow ;;
  4[0-4]) now=down ;;
  5[5-9]) now=hang ;;
  7[0-4]) now=nonsense ;;
  *) now=good ;;
  esac
  [ "$(cat "$mode")" = "$now" ] || { echo "$now" >"$mode"; note "the token server is $now"; }
  for process in "${processes[@]}"; do
    kill -0 "$process" 2>/dev/null || { logs; die "a process has ended by itself"; }
  done
  sleep 1
done

say "Comparing what arrived with what the ingress answered"
answered=$(grep -c '"status":200' "$temporary/sent.jsonl") || die "nothing was answered with 200"
timeout 60 "$bin/millrace" listen --topic appstore.events.refunds --from earliest --limit "$answered" --json \
  >"$temporary/events.jsonl" 2>"$temporary/listen.log" ||
  { logs; die "$(wc -l <"$temporary/events.jsonl") events, but $answered notifications were answered with 200"; }
# ids TOPIC prints the ids of all records that a consumer of committed records reads.
ids() {
  kcat -C -b "$kafka_servers" -t "$1" -X isolation.level=read_committed -o beginning -e -q -f '%h\n' 2>>"$temporary/kcat.log" |
    grep -o 'ce_id=[^,]*' | cut -d = -f 2 | sort
}
ids appstore.notifications.refunds >"$temporary/notifications"
ids appstore.events.refunds >"$temporary/events"
grep '"status":200' "$temporary/sent.jsonl" | grep -o '"notificationUUID":"[^"]*"' | cut -d '"' -f 4 | sort -u >"$temporary/answered"
missing=$(comm -23 "$temporary/answered" <(sort -u "$temporary/notifications") | wc -l)
[ "$missing" -eq 0 ] || die "$missing notifications that were answered with 200 are not in Kafka"
repeated=$(uniq -d "$temporary/events" | wc -l)
[ "$repeated" -eq 0 ] || die "$repeated events were published twice"
[ "$(wc -l <"$temporary/events")" -eq "$(sort -u "$temporary/notifications" | wc -l)" ] ||
  die "$(wc -l <"$temporary/events") events of $(sort -u "$temporary/notifications" | wc -l) notifications"
note "$(grep -c . "$temporary/sent.jsonl") notifications sent, $answered answered with 200, 0 of them missing, \
$(wc -l <"$temporary/events") events, 0 repeated"
plan || { cat "$temporary/plan.log" >&2; die "millrace topics plan failed"; }
for port in "$admin" "$worker" "$console_admin"; do
  curl --silent "http://127.0.0.1:$port/metrics" >"$temporary/metrics"
  fetched=$(awk '/^millrace_kafka_token_fetches_total\{.*outcome="fetched"/ { print $2 }' "$temporary/metrics")
  failed=$(awk '/^millrace_kafka_token_fetches_total\{.*outcome="failed"/ { print $2 }' "$temporary/metrics")
  note "port $port: ${fetched:-0} tokens fetched, ${failed:-0} fetches failed"
  [ "${fetched%.*}" -ge 10 ] || { logs; die "too few tokens were fetched"; }
done
for process in "${processes[@]}"; do stop "$process" || { logs; die "a process ended with status $?"; }; done
# Every token begins with the header {"alg": "none"}.
! grep -l -e eyJhbGciOiAibm9uZSJ9 -e 'pass&word' -e 'pass%26word' "$temporary"/*.log || die "a log contains a token or a secret"
say "Every client renewed its tokens, and nothing was lost"
