#!/usr/bin/env bash
# Counts the instructions per notification of ingress and worker with callgrind, without HTTP and Kafka.
# Prints the figures of a debug build, so that a regression shows in the log of CI; fails only if the paths fail. A
# figure is the difference of two runs, divided by the difference of their numbers of notifications.
#
#   scripts/check instructions
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

need_swift
need_packages "${build_packages[@]}" valgrind binutils
cd "$root"

build_programs millrace-instructions

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-instructions.XXXXXX")
clean_up_at_exit
# callgrind cannot read the toolchain's debug information.
strip --strip-debug -o "$temporary/program" "$bin/millrace-instructions"

few=4 many=24
# count PATH COUNT prints the instructions of a run.
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$temporary/program" "$1" "$2" "$many" 2>&1 |
    awk '/Collected/ { print $NF; found = 1 } END { exit !found }'
}

for path in ingress worker; do
  (count $path $few >"$temporary/$path.few") &
  first=$!
  most=$(count $path $many) || die "callgrind could not run the path $path"
  wait "$first" || die "callgrind could not run the path $path"
  per=$(((most - $(cat "$temporary/$path.few")) / (many - few)))
  [ "$per" -gt 0 ] || die "the path $path took $per instructions for a notification"
  printf '%-8s %12d instructions for a notification (debug build)\n' "$path" "$per"
done
