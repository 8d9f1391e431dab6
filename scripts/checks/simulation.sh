#!/usr/bin/env bash
# Runs 200 fixed seeds of the simulation and four planted faults. Four minutes.
# Also its self-test, and the suite of logs and the schedules on its models.
# It also checks with nm that no program of the normal build contains a part of the simulation.
#
#   scripts/check simulation
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

need_swift
need_packages "${build_packages[@]}" binutils
cd "$root"

say "Building the simulation"
# Prints why and ends if this machine cannot run it.
scripts/simulate --self-test
[ -x .build/debug/millrace-simulate ] || exit 0
export SIMULATION_IS_BUILT=1

say "Looking for parts of the simulation in the programs"
# The symbols that only the simulation defines: the interposers, its scheduler, and the switch of planted faults.
parts=' [TtDdBb] (clock_gettime|gettimeofday|getrandom|getentropy|swift_task_create|swift_stdlib_random|simulation_[a-z_]+)$|12PlantedFault'
# Not grep -q, which would end nm early.
has_parts() { nm "$1" 2>/dev/null | grep -E "$parts" >/dev/null; }
# The check must be able to fail.
has_parts .build/debug/millrace-simulate || die "nm does not find the interposers in millrace-simulate"
programs=0
for program in $(find -L .build/debug -maxdepth 1 -type f -executable \( -name 'millrace*' -o -name 'appstore*' \) | sort); do
  [ "${program##*/}" != millrace-simulate ] || continue
  ! has_parts "$program" || die "$program contains a part of the simulation"
  programs=$((programs + 1))
done
[ "$programs" -gt 0 ] || die "no program in .build/debug: run swift build first"
note "none in $programs programs"

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-simulation.XXXXXX")
clean_up_at_exit
# A seed uses one core.
start "$temporary/seeds.log" scripts/simulate --seeds 1-200
seeds=$!

say "Running the suite of logs and the schedules on the models"
scripts/simulate --conformance
scripts/simulate --schedules

say "Planting four faults"
scripts/simulate --planted late-requests,fenced-means-taken,recreated-topics,long-states --seeds 1-200

say "Running seeds that have failed once"
# 20785020: a process was killed between the entries of one outcome, and a timer was lost. 20785233: a worker noticed a
# topic that was created again only after everything else was done. 283 and 323: a reapplied record ran twice. 852 and 1033:
# an erased customer came back. 2217 and 1815 to 8454: mistakes of the checker. The others: without transactions, a handler
# ran again and found a part of its own states.
for seed in 20785020 20785233 283 323 852 1033 2217 1815 6342 6780 7122 8454 20786637 30119 30216 30398 30820; do
  scripts/simulate --seeds "$seed"
done

say "Running 200 seeds"
status=0
wait "$seeds" || status=$?
cat "$temporary/seeds.log"
exit "$status"
