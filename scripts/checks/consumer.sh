#!/usr/bin/env bash
# Follows docs/writing-a-consumer.md and tests examples/winback, its result.
# It runs all blocks that open with ```sh follow, in order and in one shell that stops at the first failure. The first
# block runs in this checkout, the others in a new directory. The consumer must log JSON, because its output is not a
# terminal, and --print-config must mask secrets. Afterwards the script builds and tests examples/winback with the same
# command.
#
# A stand-in for `swift` compiles both packages against the debug build of Millrace. A reader of the page builds Millrace
# again, which takes minutes.
#
#   scripts/check consumer            as above
#   scripts/check consumer --alone    builds both packages with SwiftPM, as a reader does
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

alone=false
case "${1:-}" in
'') ;;
--alone) alone=true ;;
*) usage "[--alone]" ;;
esac

need_swift
need_packages "${build_packages[@]}" curl python3
cd "$root"
page=docs/writing-a-consumer.md
$alone || { need_programs && export PATH=$root/scripts/checks/consumer:$PATH; }
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-consumer.XXXXXX")
clean_up_at_exit
mkdir "$temporary/fresh"

count=$(count_blocks "$page")

admin=$(free_port)
log=$temporary/consumer.log
{
  printf 'set -euo pipefail\nexport MILLRACE_ADMIN_PORT=%s\n' "$admin"
  # Stops background jobs if a command fails.
  # shellcheck disable=SC2016
  printf '%s\n' 'trap '\''for job in $(jobs -p); do kill "$job" 2>/dev/null || true; done'\'' EXIT'
  printf 'cd %q\n' "$root"
  block "$page" 1
  printf 'cd %q\n' "$temporary/fresh"
  for ((number = 2; number <= count; number++)); do block "$page" "$number"; done
} | sed -e "s/localhost:9090/localhost:$admin/" -e "s|^\(swift run Winback --config millrace.yaml\) &$|\1 2>$log \&|" \
  >"$temporary/commands.sh"
grep -qF "2>$log" "$temporary/commands.sh" || die "$page does not contain the line: swift run Winback --config millrace.yaml &"

# follow NAME COMMAND... runs a command and prints its output if it fails.
follow() {
  local name=$1 from=$SECONDS
  shift
  if ! timeout 1500 "$@" </dev/null >"$temporary/$name.log" 2>&1; then
    without_progress <"$temporary/$name.log" | tail -n 60 >&2
    [ ! -s "$log" ] || tail -n 20 "$log" >&2
    die "$name failed"
  fi
  grep -hE 'Test run with [0-9]+ tests?' "$temporary/$name.log" || die "$name: no test ran"
  note "$name: $((SECONDS - from)) s"
}

# logged_json checks that the consumer's log is JSON, after the output of the build.
logged_json() {
  python3 - "$log" <<'PYTHON'
import itertools, json, sys

lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
lines = list(itertools.dropwhile(lambda line: not line.startswith("{"), lines))
for line in lines:
    try:
        entry = json.loads(line)
    except ValueError:
        sys.exit(f"the consumer logged a line that is not JSON: {line}")
    missing = {"ts", "level", "label", "message"} - entry.keys()
    if missing:
        sys.exit(f"a line of the consumer's log has no {', '.join(sorted(missing))}: {line}")
if not any(entry["label"] == "winback" for entry in map(json.loads, lines)):
    sys.exit("the consumer logged no line with the label winback")
print(f"{len(lines)} lines logged, all of them JSON")
PYTHON
}

# printed_config checks --print-config with the page's configuration, a secret in it, and a secret in a file that it
# names. Every setting is printed with its source, and no secret.
printed_config() {
  local package=$temporary/fresh/winback secret=hush-$RANDOM$RANDOM line settings
  printf '%s\n' "$secret" >"$temporary/shared-secret"
  sed -e "s|^kafka:|&\n  properties: { sasl.password: $secret }|" \
    -e "s|^    environments:.*|&\n    sharedSecretFiles: [$temporary/shared-secret]|" \
    "$package/millrace.yaml" >"$package/secrets.yaml"
  timeout 120 env -C "$package" MILLRACE_KAFKA_BOOTSTRAP_SERVERS=localhost:9 \
    swift run Winback --config secrets.yaml --print-config >"$temporary/printed" 2>"$temporary/print.log" ||
    { cat "$temporary/print.log" >&2; die "the consumer failed with --print-config"; }
  for line in '^  winback:$' 'bundleId: com\.example\.app .*secrets\.yaml' 'sasl\.password: "\*+"' \
    'sharedSecretFiles: \[.*/shared-secret\]' 'MILLRACE_KAFKA_BOOTSTRAP_SERVERS'; do
    grep -qE "$line" "$temporary/printed" || { cat "$temporary/printed" >&2; die "--print-config does not print: $line"; }
  done
  if grep -F "$secret" "$temporary/printed" "$temporary/print.log" >&2; then die "--print-config prints a secret"; fi
  settings=$(grep -cE '^[^#]*: .*  # ' "$temporary/printed")
  printf -- '--print-config prints %s settings with their sources, and no secret\n' "$settings"
}

say "Running $page in a new directory"
follow page bash "$temporary/commands.sh"
logged_json
printed_config
say "Testing examples/winback"
follow winback env -C examples/winback swift test
