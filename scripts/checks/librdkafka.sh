#!/usr/bin/env bash
# Runs the programs and tests of the debug build with the librdkafka of Debian 13, on a real Kafka.
# The debug build is compiled with the librdkafka of this machine. Every program of the check starts in a fresh Debian 13. It
# sees only the processes, the network, the repository, the toolchain's libraries and the temporary files of this machine.
# Kafka and the tools of the other scripts run outside. The check prints the version that a worker logs, and runs:
#
# - `millrace topics apply`, and `millrace topics plan`, which must find nothing to do.
# - The Swift tests that talk to Kafka, on the embedded cluster and on the real one.
# - `scripts/scenario crash` with transactions, `scripts/check oauth` and `scripts/demo`.
#
#   scripts/check librdkafka               about twelve minutes; needs an installed Apache Kafka (see scripts/kafka), or it
#                                          exits with 3. It is skipped without mmdebstrap, or if it does not run as root
#   scripts/check librdkafka COMMAND...    runs another command with the programs in Debian 13: scripts/scenario faults
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=scripts/packaging.sh
. "$root/scripts/packaging.sh"

cd "$root"
if ! command -v mmdebstrap >/dev/null; then
  note "skipped: a newer librdkafka (mmdebstrap is not installed: apt-get install mmdebstrap)"
  exit 0
fi
[ "$(id -u)" -eq 0 ] || { note "skipped: a newer librdkafka (only root can create and enter another root)"; exit 0; }
scripts/kafka found >/dev/null || exit $?

need_programs
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-librdkafka.XXXXXX")
clean_up_at_exit
export PROGRAMS_ARE_BUILT=1 TMPDIR=$temporary

suite=trixie
include=ca-certificates,libpq5,librdkafka1,libssl3t64,libstdc++6,zlib1g
# Another list of packages needs another root.
[ "$(cat ".build/$suite-root.include" 2>/dev/null)" = "$include" ] || rm -f ".build/$suite-root.tar"
debian_root "$root/.build/$suite-root.tar" "$suite" --include "$include"
echo "$include" >".build/$suite-root.include"

fresh=$temporary/root scripts=$temporary/programs
mkdir "$fresh" "$scripts"
tar -xf ".build/$suite-root.tar" -C "$fresh"
cp /etc/hosts /etc/resolv.conf "$fresh/etc/"
toolchain=$(ldd "$bin/millrace" | awk '/libswiftCore/ { print $3 }')
mkdir -p "$fresh/$root" "$fresh/$temporary" "$fresh/${toolchain%/*}"
# A script for each program, which starts it in the fresh root. The process keeps its id.
for program in "$bin"/*; do
  { [ -f "$program" ] && [ -x "$program" ]; } || continue
  script=$scripts/${program##*/}
  printf '#!/bin/sh\nexec unshare --root=%q --wd="$PWD" %q "$@"\n' "$fresh" "$program" >"$script"
  chmod +x "$script"
done
# A command that runs another one in a mount namespace, in which the scripts are in the place of the programs. In the fresh
# root the programs themselves are there. The mounts disappear with the command.
# shellcheck disable=SC2016
enter=(unshare --mount --propagation private sh -euc '
  fresh=$1 scripts=$2 bin=$3
  shift 3
  while [ "$1" != -- ]; do
    mount --rbind "$1" "$fresh$1"
    shift
  done
  shift
  mount --bind "$scripts" "$bin"
  exec "$@"' sh "$fresh" "$scripts" "$bin" "$temporary" "$root" "${toolchain%/*}" /proc /dev --)
# newer COMMAND... runs a command with the newer librdkafka, so that a signal to this script stops it too.
newer() {
  local status=0 pid
  "${enter[@]}" "$@" &
  pid=$!
  children+=("$pid")
  wait "$pid" || status=$?
  unset 'children[-1]'
  return "$status"
}

if [ $# -gt 0 ]; then
  newer "$@"
  exit
fi

say "Starting Kafka"
start_kafka "$temporary/kafka"
export KAFKA_BOOTSTRAP_SERVERS=$kafka_servers
cat >"$temporary/millrace.yaml" <<YAML
kafka: { bootstrapServers: "$kafka_servers", durability: relaxed }
topics: { prefix: "${KAFKA_TEST_PREFIX}librdkafka-" }
workers: { refunds: {} }
admin: { port: 0 }
YAML

say "Creating the topics with the newer librdkafka"
topics() {
  newer "$bin/millrace" topics "$@" --config "$temporary/millrace.yaml" >"$temporary/topics.log" 2>&1 ||
    { cat "$temporary/topics.log" >&2; die "millrace topics $1 failed"; }
}
topics apply --yes
created=$(grep -c '^created ' "$temporary/topics.log")
topics plan
nothing=$(grep '^Nothing to do' "$temporary/topics.log") ||
  die "millrace topics plan found something to do: $(cat "$temporary/topics.log")"
note "$created topics created. Then millrace topics plan: $nothing"

say "Reading the version from the log of a worker"
installed=$(librdkafka_version "${KAFKA_TEST_PREFIX}librdkafka-")
loaded=$(librdkafka_version "${KAFKA_TEST_PREFIX}librdkafka-" "${enter[@]}")
package=$(dpkg-query --admindir "$fresh/var/lib/dpkg" --show --showformat='${Version}' librdkafka1)
[ "$loaded" = "${package%-*}" ] || die "the programs loaded librdkafka $loaded, but the fresh root has librdkafka1 $package"
grep -qF "$loaded (Debian 13)" docs/clusters.md || die "docs/clusters.md does not say '$loaded (Debian 13)'"
note "on this machine: librdkafka $installed; the programs were built with $(pkg-config --modversion rdkafka)"
note "in Debian 13:    librdkafka $loaded (librdkafka1 $package)"

say "Swift tests that talk to Kafka"
bundle=$bin/millracePackageTests.xctest
if [ -x "$bundle" ]; then
  filter='^KafkaClientTests\.|Conformance|OnClusterTests|BrokerErrors|ReadinessCheckKafka|Replay|TopicsOperation|Doctor'
  filter+='|^IngressTests\.(IngressServer|Outage|Shutdown)'
  # As in scripts/test.
  export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=16
  status=0
  # librdkafka 2.8.0 crashes if a topic that a client uses is deleted and created again (docs/clusters.md).
  skipped='TopicReplacement|RecreatedTopic'
  newer "$bundle" --testing-library swift-testing --filter "$filter" --skip "$skipped" >"$temporary/tests.log" 2>&1 || status=$?
  [ "$status" -eq 0 ] || {
    cp "$temporary/tests.log" .build/librdkafka-tests.log
    grep -A 4 '✘' "$temporary/tests.log" >&2 || tail -n 20 "$temporary/tests.log" >&2
    die "the tests ended with status $status; the complete log: .build/librdkafka-tests.log"
  }
  note "$(grep -o 'Test run with .*' "$temporary/tests.log")"
else
  note "skipped: the tests are not built: swift build --build-tests"
fi

for command in "scripts/scenario crash --rounds 3" "scripts/check oauth" scripts/demo; do
  say "$command"
  from=$SECONDS log=$temporary/${command//[\/ ]/-}.log
  read -ra words <<<"$command"
  newer "${words[@]}" >"$log" 2>&1 || { cat "$log" >&2; die "$command failed with librdkafka $loaded"; }
  # Only the results, without the progress.
  grep -E '^ +([aA]s promised:|[0-9]+ notifications)' "$log" || die "$command printed no result"
  note "$((SECONDS - from)) s"
done
say "With librdkafka $loaded of Debian 13 instead of $installed, everything passed in $SECONDS s"
