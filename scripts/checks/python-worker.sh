#!/usr/bin/env bash
# Follows docs/writing-a-worker-in-python.md word for word, from an empty directory to a tested, running worker.
# It runs all blocks that open with ```sh follow, in order and in one shell that stops at the first failure. The first
# block runs in this checkout, the others in a new directory. Everything but the build of Millrace has to take less than
# 15 minutes. Needs Python 3 with venv, and PyPI.
#
#   scripts/check python-worker               as above
#   scripts/check python-worker --endpoint    only the blocks that need no program of Millrace, on its template
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

endpoint_only=false
case "${1:-}" in
'') ;;
--endpoint) endpoint_only=true ;;
*) usage "[--endpoint]" ;;
esac
cd "$root"
need_packages curl python3 python3-venv
if ! $endpoint_only; then
  need_swift
  need_packages "${build_packages[@]}"
fi
page=docs/writing-a-worker-in-python.md
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-python-worker.XXXXXX")
clean_up_at_exit
mkdir "$temporary/fresh"

count=$(count_blocks "$page")

# The page shows the worker of the template.
diff "Sources/Operations/NewConsumer/Templates/python--worker.py" \
  <(awk '/^```python$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$page") ||
  die "$page does not show the worker of the template"

{
  printf 'set -euo pipefail\n'
  # Stops background jobs if a command fails.
  # shellcheck disable=SC2016
  printf '%s\n' 'trap '\''for job in $(jobs -p); do kill "$job" 2>/dev/null || true; done'\'' EXIT'
  printf 'cd %q\n' "$root"
  if $endpoint_only; then
    # shellcheck disable=SC2016
    printf 'millrace() { %q -B %q python "$3" "$3"; }\n' "$(command -v python3)" "$root/scripts/checks/http/templates.py"
  else
    block "$page" 1
    printf 'build=$SECONDS\n'
  fi
  printf 'cd %q\n' "$temporary/fresh"
  for ((number = 2; number <= count; number++)); do
    if $endpoint_only && block "$page" "$number" | grep -qE 'millrace (handler|listen)|millrace-|\$(worker|ingress)'; then continue; fi
    block "$page" "$number"
  done
  # shellcheck disable=SC2016
  printf '%s\n' 'echo "followed the page in $((SECONDS - ${build:-0})) s"'
} >"$temporary/commands"
sed -e "s/127\.0\.0\.1:8000/127.0.0.1:@endpoint@/g; s/--port 8000/--port @endpoint@/" \
  -e "s/127\.0\.0\.1:8080/127.0.0.1:@ingress@/; s/127\.0\.0\.1:9999/127.0.0.1:@store@/; s/--port 9999/--port @store@/" \
  -e "s/localhost:9090/localhost:@admin@/; s/localhost:9091/localhost:@worker@/; s/PORT=9091/PORT=@worker@/" \
  "$temporary/commands" >"$temporary/commands.sh"
for name in endpoint ingress store admin worker; do
  port=$(free_port)
  sed -i "s/@$name@/$port/g" "$temporary/commands.sh"
  case "$name" in
  endpoint) export MILLRACE_WORKERS_WINBACK_HANDLER_URL=http://127.0.0.1:$port/notifications ;;
  ingress) export MILLRACE_INGRESS_PORT=$port ;;
  admin) export MILLRACE_ADMIN_PORT=$port ;;
  esac
done

say "Following $page"
$endpoint_only && note "without the blocks that need programs of Millrace"
started=$SECONDS
timeout 3000 bash "$temporary/commands.sh" </dev/null >"$temporary/log" 2>&1 || { tail -n 60 "$temporary/log" >&2; die "a command of $page failed"; }
grep -oE '[0-9]+ passed' "$temporary/log" || { cat "$temporary/log" >&2; die "no test ran"; }
took=$(sed -n 's/^followed the page in \([0-9]*\) s$/\1/p' "$temporary/log")
[ "${took:-900}" -lt 900 ] || die "the page took ${took:-$((SECONDS - started))} s"
$endpoint_only || grep -qF '"topic":"appstore.events.winback"' "$temporary/log" || die "the worker published no event"
note "the page took $took s"
