#!/usr/bin/env bash
# Runs the scenarios and checks that depend on Kafka with each pair of Kafka and librdkafka, and prints a table.
# The scenarios are: crash, faults, outage, torn, oauth (tokens), scram, mtls and acls. The pairs are the installed Kafka and
# the Kafka in KAFKA_4_HOME, each with the librdkafka of this machine and of LIBRDKAFKA_2_8_HOME and LIBRDKAFKA_NEWEST_HOME:
# directories with a librdkafka.so.1. Pairs that are not there are skipped by name. ACLs need SCRAM, so they are skipped with
# a Kafka that refuses the SCRAM of this librdkafka. No scenario deletes a topic that a client uses: librdkafka 2.8.0 crashes
# then (docs/clusters.md).
#
#   scripts/check versions                  about two hours; prints the random seed
#   scripts/check versions --seed 7         repeats the notifications and moments of a seed
#   scripts/check versions --only LIST      only these scenarios, such as scram,mtls
#   scripts/check versions --library NAME   only the librdkafka `installed`, `2.8` or `newest`
#   scripts/check versions --quarter N      only every fourth pair of scenario and versions, from the Nth (0 to 3) on
#
# Needs an installed Apache Kafka (see scripts/kafka), or it exits with 3.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=scripts/scram.sh
. "$root/scripts/scram.sh"

seed=$RANDOM only=crash,faults,outage,torn,oauth,scram,mtls,acls wanted='' quarter=''
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage "[--seed N] [--only LIST] [--library NAME] [--quarter N]"
  case "$1" in
  --seed) seed=$2 ;;
  --only) only=$2 ;;
  --library) wanted=$2 ;;
  --quarter) quarter=$2 ;;
  *) usage "[--seed N] [--only LIST] [--library NAME] [--quarter N]" ;;
  esac
  shift 2
done
for name in ${only//,/ }; do
  [[ " crash faults outage torn oauth scram mtls acls " == *" $name "* ]] || die "unknown scenario $name"
done
[[ " installed 2.8 newest " == *" ${wanted:-newest} "* ]] || die "unknown librdkafka $wanted"
case ${quarter:-0} in [0-3]) ;; *) die "--quarter is 0 to 3" ;; esac

cd "$root"
scripts/kafka found >/dev/null || exit $?
need_swift
need_packages "${build_packages[@]}" curl kcat python3
build_programs millrace millrace-ingress millrace-refunds millrace-renewal-extensions millrace-console millrace-scenarios \
  appstore-simulator
export PROGRAMS_ARE_BUILT=1
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-versions.XXXXXX")
clean_up_at_exit

# The places of Kafka: the directory above that of the jars.
homes=("$(dirname "$(scripts/kafka found)")")
newer=${KAFKA_4_HOME:-$HOME/apache-kafka-4}
if KAFKA_HOME=$newer scripts/kafka found 2>/dev/null | grep "^$newer/" >/dev/null; then
  [ "$newer" = "${homes[0]}" ] || homes+=("$newer")
else
  note "skipped: every scenario with a Kafka 4: none in KAFKA_4_HOME"
fi
# The places of librdkafka; that of this machine has none.
libraries=(installed)
declare -A place=([installed]='' [2.8]=${LIBRDKAFKA_2_8_HOME:-} [newest]=${LIBRDKAFKA_NEWEST_HOME:-})
[ -e "${place[2.8]}/librdkafka.so.1" ] && libraries+=(2.8) || note "skipped: every scenario with librdkafka 2.8: none in LIBRDKAFKA_2_8_HOME"
[ -e "${place[newest]}/librdkafka.so.1" ] && libraries+=(newest) ||
  note "skipped: every scenario with the newest librdkafka: none in LIBRDKAFKA_NEWEST_HOME"

# library_version prints the version of the librdkafka that programs load here.
library_version() {
  python3 -c 'import ctypes
version = ctypes.CDLL("librdkafka.so.1").rd_kafka_version_str
version.restype = ctypes.c_char_p
print(version().decode())'
}

# play NAME runs one scenario in the present environment.
play() {
  local kafka
  case $1 in
  crash)
    scripts/kafka run "$temporary/kafka" >"$temporary/kafka.log" 2>&1 &
    kafka=$!
    children+=("$kafka")
    wait_for_file "$temporary/kafka/servers" "$kafka" 150 || { cat "$temporary/kafka.log"; return 1; }
    local status=0
    KAFKA_BOOTSTRAP_SERVERS=$(cat "$temporary/kafka/servers") scripts/scenario crash --rounds 2 --seed "$seed" || status=$?
    stop "$kafka" || true
    return "$status"
    ;;
  faults) scripts/scenario faults --pauses 1 --seed "$seed" ;;
  outage) scripts/scenario faults --outage --seed "$seed" ;;
  torn) scripts/scenario torn --seed "$seed" ;;
  *) scripts/check "$1" ;;
  esac
}

say "Seed $seed"
rows=() failed=0 number=0
for home in "${homes[@]}"; do
  for library in "${libraries[@]}"; do
    [ -z "$wanted" ] || [ "$library" = "$wanted" ] || continue
    export KAFKA_HOME=$home
    old=${LD_LIBRARY_PATH:-}
    [ -z "${place[$library]}" ] || export LD_LIBRARY_PATH=${place[$library]}${old:+:$old}
    kafka=$(installed_kafka) version=$(library_version)
    for name in ${only//,/ }; do
      number=$((number + 1))
      [ -z "$quarter" ] || [ $((number % 4)) -eq "$quarter" ] || continue
      if [ "$name" = acls ] && at_least "$kafka" 4.0 && ! at_least "$version" 2.6.1; then
        rows+=("$(printf '%-7s  Kafka %-7s  librdkafka %-7s  skipped: this Kafka refuses SCRAM of this librdkafka' "$name" "$kafka" "$version")")
        continue
      fi
      say "$name with Kafka $kafka and librdkafka $version"
      from=$SECONDS status=0 log=$temporary/$name-$kafka-$version.log
      (play "$name") >"$log" 2>&1 || status=$?
      if [ "$status" -eq 0 ]; then
        # The results, without the progress: the counts that a scenario prints at its end.
        said=$(grep -E '[Aa]s promised|answered 200: |0 repeated|0 of them missing|every late|Each process ran|nothing was lost' "$log" | tail -n 1 | sed 's/^[ =>]*//' | cut -c 1-110 || true)
        rows+=("$(printf '%-7s  Kafka %-7s  librdkafka %-7s  ok       %4d s  %s' "$name" "$kafka" "$version" $((SECONDS - from)) "$said")")
      else
        failed=$((failed + 1))
        rows+=("$(printf '%-7s  Kafka %-7s  librdkafka %-7s  FAILED   %4d s' "$name" "$kafka" "$version" $((SECONDS - from)))")
        tail -n 30 "$log"
      fi
      note "${rows[-1]}"
    done
    export LD_LIBRARY_PATH=$old
    [ -n "$old" ] || unset LD_LIBRARY_PATH
  done
done

say "Scenarios by version, seed $seed"
printf '    %s\n' "${rows[@]}"
[ "$failed" -eq 0 ] || die "$failed of ${#rows[@]} failed; repeat with --seed $seed"
say "As promised with every pair"
