#!/usr/bin/env bash
# Gives a worker more lanes under load, and checks that nothing is lost or done twice.
# Three processes of a worker run with 4 lanes while notifications arrive. Then the notifications go to topics with 12
# lanes, the processes finish and stop, `millrace topics relane` copies what they remember and what waits (it is killed on
# the way, and run again). An old process runs once more by mistake, the command copies the rest, and three processes run
# with the new topics. Each notification must have one event and each timer
# must fire once, each effect must be called once, and the renewals of each subscription must be handled in their order.
#
#   scripts/scenario relane             about a minute and a half; prints the random seed
#   scripts/scenario relane --seed 7    repeats the notifications of a seed
#
# Needs KAFKA_BOOTSTRAP_SERVERS=host:port of a real cluster; exits with 3 without it.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

seed=$RANDOM
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || die "$1 needs a number"
  case "$1" in
  --seed) seed=$2 ;;
  *) usage "[--seed N]" ;;
  esac
  shift 2
done
[ -n "${KAFKA_BOOTSTRAP_SERVERS:-}" ] || { note "skipped: more lanes: set KAFKA_BOOTSTRAP_SERVERS"; exit 3; }

need_swift
need_packages "${build_packages[@]}"
cd "$root"

build_programs millrace millrace-scenarios

temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-relane.XXXXXX")
clean_up_at_exit

say "From 4 to 12 lanes under load; seed $seed"
status=0
"$bin/millrace-scenarios" relane --seed "$seed" --programs "$bin" --topics "$root/topics" --directory "$temporary/run" \
  --limit 1200 --bootstrap-servers "$KAFKA_BOOTSTRAP_SERVERS" &
children=($!)
wait "$!" || status=$?
children=()
[ "$status" -eq 0 ] || {
  rm -rf "$root/.build/relane"
  cp -r "$temporary/run" "$root/.build/relane"
  die "the checks failed; repeat with --seed $seed; configurations and logs are in .build/relane"
}
