#!/usr/bin/env bash
# Checks the commands, the links and the generated parts of README.md, CONTRIBUTING.md and docs/.
# A block of commands runs if it opens with
#
#   ```sh run          on the embedded cluster, or on KAFKA_BOOTSTRAP_SERVERS if it is set
#   ```sh run kafka    only if KAFKA_BOOTSTRAP_SERVERS names a real cluster
#
# All blocks of a file run in order, in one shell that stops at the first failure. Its directory contains topics/ and
# scenarios/, and the built programs are on PATH. localhost:9092 becomes the cluster's address, and 8080, 9090 and 9999
# become free ports. `millrace listen`, which runs until Ctrl-C, stops after ten seconds. Blocks that open with just
# ```sh do not run.
#
# The script also compares generated parts of pages (events from schemas, sizes from measurements) with their sources,
# every command on a page with the options of its program, the table in CONTRIBUTING.md with the scripts, and the names
# that other programs rely on with those of the last release.
#
#   scripts/check docs [FILE...]    checks README.md, CONTRIBUTING.md and docs/ by default
#   scripts/check docs --write      only regenerates the generated parts of pages
#   scripts/check docs --release    only writes the names of this version as those of the last release
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

cd "$root"
if [ "${1:-}" = --write ]; then
  need_packages python3
  exec python3 -B scripts/checks/docs/check.py --write
fi
files=("$@")
[ "${1:-}" != --release ] || files=()
[ ${#files[@]} -gt 0 ] || files=(README.md CONTRIBUTING.md docs/*.md)
for file in "${files[@]}"; do [ -f "$file" ] || die "no file $file in $root"; done
need_packages curl kcat python3

need_programs
if [ "${1:-}" = --release ]; then exec python3 -B scripts/checks/docs/check.py --release "$bin"; fi
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-docs.XXXXXX")
clean_up_at_exit

kind='run'
if [ -n "${KAFKA_BOOTSTRAP_SERVERS:-}" ]; then
  bootstrap=$KAFKA_BOOTSTRAP_SERVERS kind='run( kafka)?'
else
  start_embedded_cluster
fi

# blocks KIND FILE prints the commands of all blocks of this kind.
blocks() { awk -v open="^\`\`\`sh $1\$" '$0 ~ open { inside = 1; next } /^```/ { inside = 0 } inside' "$2"; }

# dead_links FILE prints the relative links whose target does not exist.
dead_links() {
  local target
  { grep -oE '\]\([^)#:]+' "$1" || true; } | cut -c 3- | while read -r target; do
    [[ $target == http* ]] || [ -e "$(dirname "$1")/$target" ] || printf '%s: %s does not exist\n' "$1" "$target"
  done
}

passed=0 failed=()
python3 -B scripts/checks/docs/check.py "$bin" || failed+=("generated parts of pages")
for file in "${files[@]}"; do
  links=$(dead_links "$file")
  if [ -n "$links" ]; then
    failed+=("$file")
    printf '%s\n' "${red}$links${plain}" >&2
  fi
  [ -n "${KAFKA_BOOTSTRAP_SERVERS:-}" ] || [ -z "$(blocks 'run kafka' "$file")" ] ||
    note "skipped: blocks of $file that need a real cluster (KAFKA_BOOTSTRAP_SERVERS)"
  commands=$(blocks "$kind" "$file")
  [ -n "$commands" ] || continue
  place=$temporary/${file//\//-}
  mkdir "$place"
  ln -s "$root/topics" "$root/scenarios" "$place/"
  ingress=$(free_port) admin=$(free_port) simulator=$(free_port)
  commands=${commands//localhost:9092/$bootstrap}
  commands=${commands//localhost:8080/localhost:$ingress}
  commands=${commands//127.0.0.1:8080/127.0.0.1:$ingress}
  commands=${commands//127.0.0.1:9999/127.0.0.1:$simulator}
  commands=${commands//--port 9999/--port $simulator}
  commands=${commands//localhost:9090/localhost:$admin}
  cat >"$place/commands.sh" <<TEXT
set -euo pipefail
export MILLRACE_INGRESS_PORT=$ingress MILLRACE_ADMIN_PORT=$admin
# A reader stops this command with Ctrl-C.
millrace() {
  if [ "\$1" = listen ]; then timeout 10 millrace "\$@" || [ \$? -eq 124 ]
  # In the background the signal has to reach the process itself.
  elif [ "\$BASHPID" != "\$\$" ]; then exec millrace "\$@"
  else command millrace "\$@"; fi
}
# Stops background jobs, which must exit with status 0.
trap 'status=\$?; for job in \$(jobs -p); do kill "\$job"; wait "\$job" || status=\$?; done; exit \$status' EXIT
$commands
TEXT
  if (cd "$place" && PATH="$bin:$PATH" timeout 120 bash commands.sh) </dev/null >"$place/output.log" 2>&1; then
    passed=$((passed + 1))
    note "$file"
  else
    failed+=("$file")
    { printf '%s\n' "${red}$file:${plain}"; tail -n 40 "$place/output.log"; } >>"$temporary/failures"
  fi
done
# At the end, where a summary of the output contains them.
[ ! -s "$temporary/failures" ] || cat "$temporary/failures" >&2
printf '%d files with commands passed, %d failed%s\n' "$passed" "${#failed[@]}" \
  "$([ ${#failed[@]} -eq 0 ] || printf ': %s' "${failed[*]}")"
[ ${#failed[@]} -eq 0 ]
