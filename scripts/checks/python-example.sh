#!/usr/bin/env bash
# Runs examples/python on records of the real ingress.
# The embedded cluster has records of every notification type. Needs Python 3 with venv, and PyPI.
#
#   scripts/check python-example    exits with 0 if the example reads every notification once
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

need_swift
need_packages "${build_packages[@]}" python3 python3-venv
cd "$root"

build_programs millrace millrace-ingress appstore-simulator millrace-scenarios

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-python.XXXXXX")
clean_up_at_exit
demo() { "$bin/millrace-scenarios" demo "$1" --directory "$temporary" "${@:2}"; }

say "Installing the example's requirements"
python3 -m venv "$temporary/venv"
"$temporary/venv/bin/pip" install --quiet --disable-pip-version-check -r examples/python/requirements.txt

say "Simulating an hour of the App Store in six seconds"
start_embedded_cluster
demo prepare --bootstrap-servers "$bootstrap" --topics "$root/topics"
start "$temporary/ingress.log" "$bin/millrace-ingress" --config "$temporary/millrace.yaml"
demo wait-ready || { cat "$temporary/ingress.log" >&2; die "the ingress did not become ready"; }
ingress=$(sed -n 's/^ingress: { host: \(.*\), port: \(.*\) }.*/http:\/\/\1:\2/p' "$temporary/millrace.yaml")
"$bin/appstore-simulator" run scenarios/demo.yaml --chain "$temporary/chain.pem" --target "$ingress/v2" \
  --target-v1 "$ingress/v1" --shared-secret "$temporary/shared-secret" --write-sent "$temporary/sent.jsonl" \
  >"$temporary/simulator.log" 2>&1 || { cat "$temporary/simulator.log" >&2; die "the simulator ended with an error"; }
# Apple sends some of them twice. The example must read each once.
timeout 60 "$bin/millrace" listen --config "$temporary/millrace.yaml" --from earliest --json \
  --limit "$(grep -c '"status":200' "$temporary/sent.jsonl")" >"$temporary/listen.jsonl" 2>"$temporary/listen.log" ||
  { cat "$temporary/listen.log" >&2; die "millrace listen did not see every notification"; }
count=$(python3 -c 'import json, sys; print(len({json.loads(line)["id"] for line in sys.stdin}))' \
  <"$temporary/listen.jsonl")

say "Reading the notifications in Python"
mapfile -t topics < <(sed -n 's/^name: \(appstore\.notifications\..*\)/\1/p' topics/*.yaml)
timeout 60 "$temporary/venv/bin/python" examples/python/listen.py --bootstrap-servers "$bootstrap" --limit "$count" \
  "${topics[@]}" >"$temporary/read" || die "the example read $(wc -l <"$temporary/read") of $count notifications"
distinct=$(cut -d'"' -f4 "$temporary/read" | sort -u | wc -l)
[ "$distinct" -eq "$count" ] || die "the example printed $count lines, but only $distinct distinct notifications"
for type in REFUND EXPIRED CONSUMPTION_REQUEST TEST CANCEL; do
  grep -q "\"type\": \"$type\"" "$temporary/read" || die "the example read no $type"
done
note "the example read $count notifications, each once"
