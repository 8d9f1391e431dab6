#!/usr/bin/env bash
# Fuzzes the parsers of notifications with libFuzzer and AddressSanitizer.
# The parsers are those of the JWS with its header, certificates and signature, of the payload, and of the version 1
# body with its secret. The fuzzer links only AppStore and AppStoreSignature of Millrace.
#
#   scripts/check fuzz [SECONDS] [TARGET...]    default: 40 seconds for each of jws, payload, v1
#
# After a finding the script exits with 1, prints the input and keeps it under Fuzz/.build/findings.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

seconds=${1:-40}
[ $# -eq 0 ] || shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(jws payload v1)
[[ $seconds =~ ^[0-9]+$ ]] || die "SECONDS must be a number, not $seconds"

need_swift
need_packages "${build_packages[@]}"
cd "$root"

# libFuzzer is part of the toolchain's clang. The archive without a main function is needed, because Swift provides it.
resources=$(swift -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
library=$(ls "$resources"/clang/lib/linux/libclang_rt.fuzzer_no_main-"$(uname -m)".a 2>/dev/null) ||
  die "this toolchain has no libclang_rt.fuzzer_no_main below $resources/clang; use one from swift.org"

say "Building the fuzzer"
build=(swift build --quiet --package-path Fuzz --configuration release -Xlinker "$library")
for product in fuzz-seeds fuzz; do "${build[@]}" --product "$product" 2>&1 | without_progress; done
bin=$("${build[@]}" --show-bin-path)

work=Fuzz/.build/run
seeds=$work/seeds findings=Fuzz/.build/findings
rm -rf "$work"
mkdir -p "$work" "$findings"
# Leak detection would report memory that a short-lived process leaves to the system.
export ASAN_OPTIONS=detect_leaks=0
"$bin/fuzz-seeds" "$seeds"

clean_up_at_exit
say "Fuzzing ${targets[*]}, $seconds s each, $(nproc) at a time"
fuzz() {
  # libFuzzer writes new inputs to the first directory, so the seeds do not change.
  mkdir -p "$work/$1"
  exec "$bin/fuzz" "$1" "$seeds" "$work/$1" "$seeds/$1" -max_total_time="$seconds" -max_len=32768 -timeout=20 \
    -rss_limit_mb=2048 -detect_leaks=0 -dict=Fuzz/dictionary.txt -artifact_prefix="$findings/$1-" -print_final_stats=1
}
failed=0 running=()
finish() {
  local target=${running[0]%%:*} pid=${running[0]##*:} status=0
  running=("${running[@]:1}")
  wait "$pid" || status=$?
  if [ "$status" -eq 0 ]; then
    note "$(printf '%-8s %s' "$target" "$(summary "$work/$target.log")")"
  else
    failed=1
    tail -n 60 "$work/$target.log" | cut -c 1-400
    printf '%s\n' "${red}$target: a finding (status $status)${plain}"
  fi
}
summary() {
  sed -n 's/^#\([0-9]*\)[[:space:]]*DONE[[:space:]]*cov: \([0-9]*\).*corp: \([0-9]*\).*exec\/s: \([0-9]*\).*/\1 inputs, \2 edges, \3 inputs kept, \4 inputs per second/p' "$1"
}
for target in "${targets[@]}"; do
  [ -d "$seeds/$target" ] || die "unknown target $target: use jws, payload or v1"
  [ ${#running[@]} -lt "$(nproc)" ] || finish
  start "$work/$target.log" fuzz "$target"
  running+=("$target:$!")
done
while [ ${#running[@]} -gt 0 ]; do finish; done

if [ "$failed" -ne 0 ]; then
  printf '%s\n' "${red}Findings:${plain}"
  for finding in "$findings"/*; do
    [ -e "$finding" ] || continue
    target=$(basename "$finding")
    printf '%s\n' "  $finding  ($(wc -c <"$finding") bytes); reproduce with: $bin/fuzz ${target%%-*} $seeds $finding"
    base64 -w 0 "$finding" | cut -c 1-60000
    printf '\n'
  done
  exit 1
fi
