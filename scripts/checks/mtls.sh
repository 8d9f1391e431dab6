#!/usr/bin/env bash
# Authenticates every process with a client certificate, and renews certificates and the authority under load.
# A real Kafka accepts only clients whose certificate its authority signed. While refunds arrive, each process gets a
# certificate of a new authority and restarts; then the broker stops trusting the old one. Everything that the ingress
# answered with 200 must be in Kafka, each refund must become one event, and the old certificate must be refused.
#
#   scripts/check mtls    about two minutes; needs an installed Apache Kafka (see scripts/kafka), or it exits with 3
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=scripts/refunds.sh
. "$root/scripts/refunds.sh"

[ $# -eq 0 ] || usage
cd "$root"
scripts/kafka found >/dev/null || exit $?
need_swift
need_packages "${build_packages[@]}" curl kcat openssl python3

build_programs millrace millrace-ingress millrace-refunds appstore-simulator
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-mtls.XXXXXX")
clean_up_at_exit
logs() { tail -n 20 "$temporary"/*.log >&2; }

ec=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
# authority NAME creates a certificate authority.
authority() {
  openssl req -x509 "${ec[@]}" -days 2 -subj "/CN=$1" -keyout "$temporary/$1.key" -out "$temporary/$1.crt" 2>>"$temporary/openssl.log"
}
# certificate NAME AUTHORITY writes NAME.key and NAME.crt, for a client or a server on this machine.
certificate() {
  openssl req "${ec[@]}" -subj "/CN=$1" -keyout "$temporary/$1.key" -out "$temporary/$1.csr" 2>>"$temporary/openssl.log"
  printf 'subjectAltName=IP:127.0.0.1\n' >"$temporary/$1.ext"
  openssl x509 -req -in "$temporary/$1.csr" -CA "$temporary/$2.crt" -CAkey "$temporary/$2.key" -CAcreateserial -days 1 \
    -extfile "$temporary/$1.ext" -out "$temporary/$1.crt" 2>>"$temporary/openssl.log"
}
for name in old new; do authority "$name-authority"; done
certificate broker old-authority
for process in ingress refunds; do certificate "$process" old-authority; done
cat "$temporary/broker.key" "$temporary/broker.crt" >"$temporary/broker.pem"
# Both during the change, as operators do it.
cat "$temporary/old-authority.crt" "$temporary/new-authority.crt" >"$temporary/trusted.pem"

say "Starting Kafka with a listener that requires client certificates"
tls=$(free_port) ingress=$(free_port) admin=$(free_port) worker=$(free_port)
start_kafka "$temporary/kafka" \
  --set "listeners=PLAINTEXT://127.0.0.1:{port},TLS://127.0.0.1:$tls,CONTROLLER://127.0.0.1:{control}" \
  --set "advertised.listeners=PLAINTEXT://127.0.0.1:{port},TLS://127.0.0.1:$tls" \
  --set 'listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,TLS:SSL' \
  --set ssl.client.auth=required \
  --set ssl.keystore.type=PEM --set "ssl.keystore.location=$temporary/broker.pem" \
  --set ssl.truststore.type=PEM --set "ssl.truststore.location=$temporary/trusted.pem"

# configuration PROCESS prints the configuration of a process.
configuration() {
  cat <<YAML
kafka:
  bootstrapServers: "127.0.0.1:$tls"
  durability: relaxed
  properties:
    security.protocol: SSL
    ssl.ca.location: "$temporary/trusted.pem"
    ssl.certificate.location: "$temporary/$1.crt"
    ssl.key.location: "$temporary/$1.key"
topics: { lanes: 2 }
trust: { roots: ["$temporary/root.pem"] }
apps:
  - { bundleId: com.example.app, environments: [Sandbox] }
workers: { refunds: { retryDelays: [1s, 10s] } }
ingress: { host: 127.0.0.1, port: $ingress }
admin: { host: 127.0.0.1, port: $2 }
YAML
}
configuration ingress "$admin" >"$temporary/ingress.yaml"
configuration refunds "$worker" >"$temporary/refunds.yaml"
# plan CONFIGURATION asks for the topics, with clients of its own.
plan() { "$bin/millrace" topics plan --config "$1" >"$temporary/plan.log" 2>&1; }
# refused CONFIGURATION WHAT fails unless the broker refuses this configuration.
refused() {
  ! plan "$1" || die "the broker accepted $2"
  grep -qiE 'ssl|certificate' "$temporary/plan.log" || { cat "$temporary/plan.log" >&2; die "the error does not name TLS"; }
  note "$2: $(grep -m 1 -iE 'ssl|certificate' "$temporary/plan.log" | cut -c 1-200)"
}

grep -v '^    ssl\.\(certificate\|key\)' "$temporary/refunds.yaml" >"$temporary/without.yaml"
refused "$temporary/without.yaml" "no certificate"
export MILLRACE_CONFIG=$temporary/refunds.yaml
"$bin/millrace" topics apply --yes >"$temporary/topics.log" 2>&1 || { cat "$temporary/topics.log" >&2; die "could not create the topics"; }

say "Running the ingress and the refunds worker, each with a certificate of its own"
# 200 refunds in 60 seconds.
refund_scenario "$ingress" 200 60 >"$temporary/scenario.yaml"
start_refunds "$temporary/scenario.yaml"
start_ingress() { start "$temporary/ingress-$1.log" "$bin/millrace-ingress" --config "$temporary/ingress.yaml"; first=$!; }
start_worker() { start "$temporary/refunds-$1.log" "$bin/millrace-refunds" --config "$temporary/refunds.yaml"; second=$!; }
start_ingress old
start_worker old
for port in "$admin" "$worker"; do refunds_ready "$port"; done
# until_sent COUNT waits until this number of notifications was posted.
until_sent() {
  until [ "$(wc -l <"$temporary/sent.jsonl")" -ge "$1" ]; do
    kill -0 "$simulator" 2>/dev/null || { logs; die "the simulator has ended too early"; }
    sleep 0.2
  done
}
until_sent 40

say "Renewing the certificates: each process gets one of the new authority and restarts"
for process in ingress refunds; do
  cp "$temporary/$process.crt" "$temporary/old-$process.crt"
  cp "$temporary/$process.key" "$temporary/old-$process.key"
  certificate "$process" new-authority
done
stop "$first" || { logs; die "the ingress ended with status $?"; }
start_ingress new
refunds_ready "$admin"
stop "$second" || { logs; die "the worker ended with status $?"; }
start_worker new
refunds_ready "$worker"
until_sent 100

say "The broker gets a certificate of the new authority, and trusts only that"
certificate broker new-authority
cat "$temporary/broker.key" "$temporary/broker.crt" >"$temporary/broker.pem"
cp "$temporary/new-authority.crt" "$temporary/trusted.pem"
scripts/kafka kill "$temporary/kafka" 1 >"$temporary/broker-change.log" 2>&1
scripts/kafka start "$temporary/kafka" 1 >>"$temporary/broker-change.log" 2>&1 || { cat "$temporary/broker-change.log" >&2; die "the broker did not start"; }
sed "s#/refunds\.\(crt\|key\)#/old-refunds.\1#" "$temporary/refunds.yaml" >"$temporary/old.yaml"
refused "$temporary/old.yaml" "a certificate of the old authority"
for port in "$admin" "$worker"; do refunds_ready "$port"; done
for process in "$first" "$second"; do
  kill -0 "$process" 2>/dev/null || { logs; die "a process has ended by itself"; }
done

say "Comparing what arrived with what the ingress answered"
# The ingress and the broker restart in the meantime.
compare_refunds 100
for process in "$first" "$second"; do stop "$process" || { logs; die "a process ended with status $?"; }; done
say "Certificates and authority were renewed, and nothing was lost"
