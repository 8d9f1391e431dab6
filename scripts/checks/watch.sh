#!/usr/bin/env bash
# Tests dashboards and alerts with a real Prometheus, real processes and a simulated App Store.
# Every dashboard expression must have series, every alerting rule must evaluate, and the alerts that the load causes
# must fire.
#
#   scripts/check watch              exits with 0 if all checks pass
#   scripts/check watch --picture    also draws docs/images/watch.png from the data in Prometheus
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

picture=()
case "${1:-}" in
'') ;;
--picture) picture=(--picture docs/images/watch.png) ;;
*) usage "[--picture]" ;;
esac

need_swift
need_packages "${build_packages[@]}" prometheus openssl postgresql
cd "$root"
python_environment chart

build_programs millrace millrace-ingress millrace-forward millrace-refunds millrace-renewal-extensions millrace-postgres appstore-simulator millrace-scenarios

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-watch.XXXXXX")
clean_up_at_exit
config=$temporary/millrace.yaml
demo() { "$bin/millrace-scenarios" demo "$1" --directory "$temporary" "${@:2}"; }
# check_metrics checks the metrics of every process with promtool, which warns about unconventional names and help
# texts.
check_metrics() {
  local target
  for target in "${targets[@]}"; do
    curl --silent --show-error --fail --max-time 10 --output "$temporary/metrics.txt" "http://$target/metrics" ||
      { logs; die "$target does not serve its metrics"; }
    promtool check metrics <"$temporary/metrics.txt" >"$temporary/promtool.log" 2>&1 ||
      { cat "$temporary/promtool.log" >&2; die "promtool rejects the metrics of $target"; }
  done
}
logs() { tail -n 5 "$temporary"/*.log >&2; }

say "Starting a Kafka cluster, a receiver that fails, and a simulated App Store"
export MILLRACE_TOPICS_DIRECTORY=$root/topics MILLRACE_TOPICS_LANES=4 MILLRACE_KAFKA_DURABILITY=relaxed
start "$temporary/receiver.log" python3 scripts/checks/old-receiver.py "$temporary/port" "$temporary/taken.jsonl" 1
wait_for_file "$temporary/port" "$!" 120 || { logs; die "the receiver did not start"; }
export MILLRACE_WORKERS='{forward-old: {settings: {refusedAttempts: 1}}, refunds: {}, renewal-extensions: {}}'
MILLRACE_WORKERS_FORWARD_OLD_SETTINGS_URL="http://127.0.0.1:$(cat "$temporary/port")/apple"
export MILLRACE_WORKERS_FORWARD_OLD_SETTINGS_URL
start_embedded_cluster
demo prepare --bootstrap-servers "$bootstrap" --topics "$root/topics" >/dev/null
ingress=$(sed -n 's/^ingress: { host: \(.*\), port: \(.*\) }.*/http:\/\/\1:\2/p' "$config")
api=$(free_port)
start "$temporary/simulator.log" "$bin/appstore-simulator" run scripts/checks/chart/watch.yaml --port "$api" \
  --chain "$temporary/chain.pem" --target "$ingress/v2" --target-v1 "$ingress/v1" \
  --shared-secret "$temporary/shared-secret" --write-api-key "$temporary/apple.p8" --write-clock "$temporary/clock.yaml"
simulator=$!
wait_for_file "$temporary/clock.yaml" "$simulator" 20 || { logs; die "the simulator did not start"; }
cat "$temporary/clock.yaml" >>"$config"
export MILLRACE_APP_STORE_PRODUCTION_URL=http://127.0.0.1:$api MILLRACE_APP_STORE_SANDBOX_URL=http://127.0.0.1:$api
for app in 0 1; do
  export "MILLRACE_APPS_${app}_API_ISSUER_ID=57246542-96fe-1a63-e053-0824d011072a" \
    "MILLRACE_APPS_${app}_API_KEY_ID=SIMULATOR1" "MILLRACE_APPS_${app}_API_PRIVATE_KEY_FILE=$temporary/apple.p8"
done

create_postgres "$temporary/postgres"
start_postgres "$temporary/postgres"
export MILLRACE_POSTGRES_URL=$postgres_url MILLRACE_POSTGRES_TABLES='[entitlements, events]'
"$bin/millrace" postgres migrate --config "$config" >"$temporary/migrate.log" 2>&1 ||
  { cat "$temporary/migrate.log" >&2; die "could not create the tables"; }

say "Starting Prometheus with the alerts of the chart"
# Prometheus starts before the processes, so that it sees them start.
programs=(millrace-ingress millrace-forward millrace-refunds millrace-renewal-extensions millrace-postgres)
targets=("$(sed -n 's/^admin: { host: \(.*\), port: \(.*\) }.*/\1:\2/p' "$config")")
for _ in "${programs[@]}"; do targets+=("127.0.0.1:$(free_port)"); done
(cd scripts/checks/chart && "$python" watch.py rules "$temporary/alerts.yaml")
prometheus=$(free_port)
{
  printf 'global: { scrape_interval: 1s, evaluation_interval: 1s }\nrule_files: [%s]\n' "$temporary/alerts.yaml"
  printf 'scrape_configs:\n  - job_name: millrace\n    static_configs: [{ targets: [%s] }]\n' "$(IFS=,; echo "${targets[*]}")"
} >"$temporary/prometheus.yml"
promtool check config "$temporary/prometheus.yml" >"$temporary/promtool.log" ||
  { cat "$temporary/promtool.log" >&2; die "promtool rejects the configuration of Prometheus"; }
start "$temporary/prometheus.log" prometheus --config.file="$temporary/prometheus.yml" \
  --storage.tsdb.path="$temporary/data" --web.listen-address="127.0.0.1:$prometheus"
curl --silent --fail --output /dev/null --retry 30 --retry-all-errors --retry-delay 1 "http://127.0.0.1:$prometheus/-/ready" ||
  { logs; die "Prometheus did not become ready"; }

say "Starting two ingresses, one with its own certificate, three workers and millrace-postgres"
start "$temporary/ingress.log" "$bin/millrace-ingress" --config "$config"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 10 -subj /CN=localhost \
  -keyout "$temporary/tls.key" -out "$temporary/tls.crt" 2>/dev/null
for index in "${!programs[@]}"; do
  variables=(MILLRACE_ADMIN_PORT="${targets[index + 1]##*:}")
  [ "${programs[index]}" != millrace-ingress ] ||
    variables+=(MILLRACE_INGRESS_PORT="$(free_port)" MILLRACE_INGRESS_TLS_CERTIFICATE="$temporary/tls.crt"
      MILLRACE_INGRESS_TLS_KEY="$temporary/tls.key")
  start "$temporary/${programs[index]}.log" env "${variables[@]}" "$bin/${programs[index]}" --config "$config"
done
demo wait-ready || { logs; die "the ingress did not become ready"; }
for target in "${targets[@]}"; do
  curl --silent --fail --output /dev/null --retry 60 --retry-all-errors --retry-delay 1 "http://$target/readyz" ||
    { logs; die "$target did not become ready"; }
done

say "Simulating 45 minutes of the App Store in 45 seconds, with a mass extension and forgeries"
"$bin/millrace" campaigns start --config "$config" --app com.example.app --product com.example.app.monthly --days 7 \
  --reason 3 --yes >"$temporary/campaign.log" 2>&1 || { cat "$temporary/campaign.log" >&2; die "the campaign did not start"; }
demo forge >"$temporary/forge.log" || { cat "$temporary/forge.log" >&2; die "posting forgeries failed"; }

(cd scripts/checks/chart && "$python" watch.py check "http://127.0.0.1:$prometheus" 150) || { logs; die "dashboards or alerts are not as expected"; }
# The load has produced all metrics only now.
check_metrics
if [ ${#picture[@]} -gt 0 ]; then
  # The picture shows the complete run.
  wait "$simulator" || { logs; die "the simulator ended with an error"; }
  (cd scripts/checks/chart && "$python" watch.py picture "http://127.0.0.1:$prometheus" "$root/${picture[1]}")
  note "${picture[1]}"
fi
