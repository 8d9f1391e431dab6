#!/usr/bin/env bash
# Checks that the reasons against the consumer group protocol of KIP-848 still hold, on a real Kafka 4 with a new librdkafka.
# docs/adr/0076-workers-stay-with-the-classic-group-protocol.md has the reasons. The check fails when one of them is gone:
#
# - Partitions of equal number go to one member only if all members subscribe to the same topics.
# - A static member that was killed and returns is refused with UNRELEASED_INSTANCE_ID, which is fatal in librdkafka.
# - The session of a member is the broker's, and at least 45 s. Neither a client nor a group can shorten it.
#
#   scripts/check group-protocol    a minute; needs an installed Apache Kafka (see scripts/kafka), or it exits with 3. It is
#                                   skipped with a Kafka before 4.0
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=scripts/scram.sh
. "$root/scripts/scram.sh"

[ $# -eq 0 ] || usage
cd "$root"
scripts/kafka found >/dev/null || exit $?
case $(installed_kafka) in
[0-3].*)
  note "skipped: the consumer group protocol of KIP-848: Kafka $(installed_kafka) does not have it"
  exit 0
  ;;
esac
need_packages python3 python3-venv
python_environment group-protocol
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-group-protocol.XXXXXX")
clean_up_at_exit

say "Starting Kafka"
start_kafka "$temporary/kafka"
"$python" scripts/checks/group-protocol/check.py "$kafka_servers"

for minimum in 18000 44999; do
  if KAFKA_OPTS='' scripts/kafka tool configs --bootstrap-server "$kafka_servers" --alter --entity-type groups \
    --entity-name short --add-config "consumer.session.timeout.ms=$minimum" >"$temporary/session.log" 2>&1; then
    die "a group may have a session of $minimum ms: see docs/adr/0076-workers-stay-with-the-classic-group-protocol.md"
  fi
  grep -q 'consumer.session.timeout.ms' "$temporary/session.log" || { cat "$temporary/session.log" >&2; die "the command failed"; }
done
KAFKA_OPTS='' scripts/kafka tool configs --bootstrap-server "$kafka_servers" --alter --entity-type groups \
  --entity-name long --add-config consumer.session.timeout.ms=45000 >"$temporary/session.log" 2>&1 ||
  { cat "$temporary/session.log" >&2; die "the broker refuses a session of 45 s too, so the check shows nothing"; }
note "a group's session cannot be shorter than 45 s"
say "Every reason against the protocol of KIP-848 still holds with Kafka $(installed_kafka)"
