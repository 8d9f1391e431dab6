#!/usr/bin/env bash
# Authenticates every Kafka client with tokens that live ten seconds, on a real Kafka that ends sessions after ten seconds.
# A stub of an OAuth server issues the tokens. It is slow, hangs, ends connections and answers nonsense for a while. Refunds
# of a simulated App Store must become events of the refunds worker, each exactly once. Everything that the ingress
# answered with 200 must be in Kafka. No process may end, and no log may contain a token. A listener that checks signatures
# must accept signed tokens only. The tokens for Amazon MSK must equal those of AWS's own library.
#
#   scripts/check oauth    about three minutes; needs an installed Apache Kafka (see scripts/kafka), or it exits with 3
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=scripts/refunds.sh
. "$root/scripts/refunds.sh"

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
sasl=$(free_port) signed=$(free_port) ingress=$(free_port) admin=$(free_port) worker=$(free_port) console=$(free_port)
tokens=$(free_port)
mode=$temporary/mode
echo good >"$mode"
printf 'pass&word\n' >"$temporary/secret"
openssl genrsa -out "$temporary/signing.pem" 2048 2>/dev/null
# Before Kafka, which reads the keys of signed tokens when it starts.
start "$temporary/tokens.log" "$python" scripts/checks/oauth/token_server.py "$tokens" "$mode" 10 "$temporary/signing.pem"
library=org.apache.kafka.common.security.oauthbearer
login=$library.OAuthBearerLoginModule
# From 4.0 on a broker reads keys only from URLs that this property allows.
export KAFKA_OPTS="-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=http://127.0.0.1:$tokens/keys"
start_kafka "$temporary/kafka" \
  --set "listeners=PLAINTEXT://127.0.0.1:{port},SASL://127.0.0.1:$sasl,SIGNED://127.0.0.1:$signed,CONTROLLER://127.0.0.1:{control}" \
  --set "advertised.listeners=PLAINTEXT://127.0.0.1:{port},SASL://127.0.0.1:$sasl,SIGNED://127.0.0.1:$signed" \
  --set 'listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT,SIGNED:SASL_PLAINTEXT' \
  --set "listener.name.signed.oauthbearer.sasl.jaas.config=$login required unsecuredLoginStringClaim_sub=\"broker\";" \
  --set "listener.name.signed.oauthbearer.sasl.server.callback.handler.class=$library.OAuthBearerValidatorCallbackHandler" \
  --set "sasl.oauthbearer.jwks.endpoint.url=http://127.0.0.1:$tokens/keys" \
  --set sasl.oauthbearer.expected.audience=kafka \
  --set sasl.enabled.mechanisms=OAUTHBEARER \
  --set "listener.name.sasl.oauthbearer.sasl.jaas.config=$login required unsecuredLoginStringClaim_sub=\"broker\";" \
  --set listener.name.sasl.oauthbearer.connections.max.reauth.ms=10000

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

# plan asks for the topics, with admin clients of its own.
plan() {
  local status=0
  "$bin/millrace" topics plan >"$temporary/plan.log" 2>&1 || status=$?
  cat "$temporary/plan.log" >>"$temporary/plans.log"
  return "$status"
}

say "Without the server, the error names it"
echo down >"$mode"
! plan || die "millrace topics plan succeeded without a token"
grep -q "no token: http://127.0.0.1:$tokens/token: the server did not answer" "$temporary/plan.log" ||
  { cat "$temporary/plan.log" >&2; die "the error does not name the token server"; }
note "$(grep -m 1 -o 'no token: .*' "$temporary/plan.log")"
echo good >"$mode"

say "At the listener for signed tokens (JWKS), only those are accepted"
# at_signed URL asks for the topics at that listener, with tokens of this URL.
at_signed() {
  MILLRACE_KAFKA_BOOTSTRAP_SERVERS=127.0.0.1:$signed MILLRACE_KAFKA_OAUTH_TOKEN_URL=http://127.0.0.1:$tokens/$1 plan
}
at_signed signed || { cat "$temporary/plan.log" >&2; die "a signed token was refused"; }
! at_signed token || die "an unsigned token was accepted"
grep -q 'authentication failed' "$temporary/plan.log" ||
  { cat "$temporary/plan.log" >&2; die "the error does not say that the authentication failed"; }
note "$(grep -m 1 -o 'authentication failed.*' "$temporary/plan.log" | cut -c 1-160)"

say "Running the ingress, the refunds worker and the console, which are busy for twelve sessions"
"$bin/millrace" topics apply --yes >"$temporary/topics.log" 2>&1 ||
  { cat "$temporary/topics.log" >&2; die "could not create the topics"; }
# 500 refunds in 100 seconds.
refund_scenario "$ingress" 500 100 >"$temporary/scenario.yaml"
start_refunds "$temporary/scenario.yaml"
start "$temporary/ingress.log" "$bin/millrace-ingress"
processes=("$!")
MILLRACE_ADMIN_PORT=$worker start "$temporary/refunds.log" "$bin/millrace-refunds"
processes+=("$!")
console_admin=$(free_port)
MILLRACE_ADMIN_PORT=$console_admin start "$temporary/console.log" "$bin/millrace-console"
processes+=("$!")
for port in "$admin" "$worker" "$console_admin"; do refunds_ready "$port"; done

begin=$SECONDS
until [ $((SECONDS - begin)) -ge 125 ]; do
  # Each trouble ends before the tokens that the clients have.
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
compare_refunds 400
plan || { cat "$temporary/plan.log" >&2; die "millrace topics plan failed"; }
for port in "$admin" "$worker" "$console_admin"; do
  curl --silent "http://127.0.0.1:$port/metrics" >"$temporary/metrics"
  fetched=$(awk '/^millrace_kafka_token_fetches_total\{.*outcome="fetched"/ { print $2 }' "$temporary/metrics")
  failed=$(awk '/^millrace_kafka_token_fetches_total\{.*outcome="failed"/ { print $2 }' "$temporary/metrics")
  note "port $port: ${fetched:-0} tokens fetched, ${failed:-0} fetches failed"
  [ "${fetched%.*}" -ge 10 ] || { logs; die "too few tokens were fetched"; }
done
for process in "${processes[@]}"; do stop "$process" || { logs; die "a process ended with status $?"; }; done
# Every token begins with the header {"alg": "none"} or {"alg": "RS256".
! grep -l -e eyJhbGciOiAibm9uZSJ9 -e eyJhbGciOiAiUlMyNTYi -e 'pass&word' -e 'pass%26word' "$temporary"/*.log || die "a log contains a token or a secret"
say "Every client renewed its tokens, and nothing was lost"
