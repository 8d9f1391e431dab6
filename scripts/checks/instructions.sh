#!/usr/bin/env bash
# Counts the instructions per notification of ingress and worker with callgrind, without HTTP and Kafka.
# `headers` is the worker without verification. A figure of the debug build is the difference of two runs, divided by the
# difference of their numbers of notifications. The script fails if one exceeds that in scripts/checks/instructions.base by
# more than 3 %. With another toolchain, C library or processor than the base's, it only prints them.
#
#   scripts/check instructions           compares with the base
#   scripts/check instructions --write   writes the base, after a change that is worth its cost
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

case "$*" in '' | --write) ;; *) usage "[--write]" ;; esac
need_swift
need_packages "${build_packages[@]}" valgrind binutils
cd "$root"

build_programs millrace-instructions

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-instructions.XXXXXX")
clean_up_at_exit
# callgrind cannot read the toolchain's debug information.
strip --strip-debug -o "$temporary/program" "$bin/millrace-instructions"
# Otherwise each run hashes in another order.
export SWIFT_DETERMINISTIC_HASHING=1

# On one processor, threads take turns in the same order each time.
processors=$(taskset -cp $$ | sed 's/.*: //')

# count PROCESSOR PATH COUNT OF prints the instructions of a run.
count() {
  taskset -c "$1" valgrind --tool=callgrind --callgrind-out-file=/dev/null "$temporary/program" "${@:2}" 2>&1 |
    awk '/Collected/ { print $NF; found = 1 } END { exit !found }'
}

# What decides which code runs: the toolchain, the C library, and the instructions that the libraries choose from.
place=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([^ ]+).*/Swift \1/p' | sed -n 1p)
place+=", $(getconf GNU_LIBC_VERSION), $(uname -m)"
for flag in avx avx2 aes bmi2 pclmulqdq; do grep -qw "$flag" /proc/cpuinfo && place+=" $flag"; done

file=scripts/checks/instructions.base
is_comparable=false
[ "$(sed -n 1p "$file" 2>/dev/null)" != "# $place" ] || is_comparable=true
$is_comparable || [ "$*" = --write ] || note "no base for $place"

{
  printf '# %s\n' "$place"
  printf '# Written by scripts/check instructions --write.\n'
} >"$temporary/base"
failed=()
for row in 'ingress 20 100' 'worker 20 100' 'headers 100 1000'; do
  read -r path few many <<<"$row"
  (count "${processors%%[-,]*}" "$path" "$few" "$many" >"$temporary/$path.few") &
  first=$!
  most=$(count "${processors##*[-,]}" "$path" "$many" "$many") || die "callgrind could not run the path $path"
  wait "$first" || die "callgrind could not run the path $path"
  per=$(((most - $(cat "$temporary/$path.few")) / (many - few)))
  [ "$per" -gt 0 ] || die "the path $path took $per instructions for a notification"
  printf '%s %d\n' "$path" "$per" >>"$temporary/base"
  base=$($is_comparable && awk -v path="$path" '$1 == path { print $2 }' "$file" || true)
  change=
  if [ -n "$base" ]; then
    change=$(awk -v now="$per" -v then="$base" 'BEGIN { printf "%+.1f %% of the base", (now / then - 1) * 100 }')
    [ $((per * 100)) -le $((base * 103)) ] || failed+=("$path $change")
  fi
  printf '%-8s %12d instructions for a notification (debug build)%s\n' "$path" "$per" "${change:+, $change}"
done

if [ "$*" = --write ]; then
  cp "$temporary/base" "$file"
  note "written: $file"
elif [ ${#failed[@]} -gt 0 ]; then
  die "more instructions for a notification: $(IFS=,; echo "${failed[*]}"); find the cause with callgrind, or write the base"
fi
