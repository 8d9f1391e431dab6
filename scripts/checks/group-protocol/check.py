"""Checks two of the reasons against the consumer group protocol of KIP-848. Takes the bootstrap servers."""

import subprocess
import sys
import time

import confluent_kafka
from confluent_kafka import Consumer, KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

SECONDS = 60
LANES = 4


def consumer(servers, group, instance=None, **properties):
    settings = {"bootstrap.servers": servers, "group.id": group, "group.protocol": "consumer",
                "group.remote.assignor": "range", "enable.auto.commit": False} | properties
    if instance:
        settings["group.instance.id"] = instance
    return Consumer(settings)


def assignments(members):
    """Polls until the members have all partitions that they subscribe to, each partition once; returns those of each."""
    end = time.monotonic() + SECONDS
    wanted = sum(LANES for _ in {topic for _, topics in members for topic in topics})
    before = None
    while time.monotonic() < end:
        for each, _ in members:
            each.poll(0.2)
        found = [sorted((part.topic, part.partition) for part in each.assignment()) for each, _ in members]
        if found == before and all(found) and sum(map(len, found)) == wanted == len({part for parts in found for part in parts}):
            return found
        before = found
    sys.exit(f"the group did not settle within {SECONDS} s: {before}")


def is_copartitioned(found):
    """Whether the partitions with one number have one owner."""
    return all(len({index for index, parts in enumerate(found) for topic, number in parts if number == lane}) == 1
               for lane in range(LANES))


def copartitioning(servers):
    topics = ["orders", "ledger"]
    for group, second, expected in [("alike", topics, True), ("different", topics[:1], False)]:
        members = [(consumer(servers, group), topics), (consumer(servers, group), second)]
        for each, subscribed in members:
            each.subscribe(subscribed)
        found = assignments(members)
        for each, _ in members:
            each.close()
        if is_copartitioned(found) != expected:
            sys.exit(f"the reason is gone: with {group} subscriptions the members have {found}")
    print("    partitions of one number have one owner only if all members subscribe to the same topics")


def join(servers):
    """A static member: prints a line when it has its partitions, and stays until it is killed."""
    member = consumer(servers, "static", "one")
    member.subscribe(["orders"])
    assignments([(member, ["orders"])])
    print("joined", flush=True)
    while True:
        member.poll(1)


def returns(servers):
    first = subprocess.Popen([sys.executable, __file__, servers, "join"], stdout=subprocess.PIPE, text=True)
    if first.stdout.readline().strip() != "joined":
        sys.exit("the static member did not join")
    first.kill()
    first.wait()
    errors = []
    second = consumer(servers, "static", "one", error_cb=errors.append)
    second.subscribe(["orders"])
    end = time.monotonic() + 20
    while time.monotonic() < end and not second.assignment():
        try:
            message = second.poll(0.2)
            if message is not None and message.error():
                errors.append(message.error())
        except KafkaException as error:
            errors.append(error.args[0])
        if any(error.fatal() or error.code() == KafkaError._FATAL for error in errors):
            break
    text = "; ".join(f"{error.name()}: {error.str()}" for error in errors)
    if second.assignment():
        sys.exit("the reason is gone: a killed static member that returns gets its partitions")
    if not any(error.fatal() or error.code() == KafkaError._FATAL for error in errors):
        sys.exit(f"the reason has changed: a killed static member that returns has no fatal error: {text}")
    # librdkafka's text of UNRELEASED_INSTANCE_ID.
    if "The instance ID is still used by another member" not in text:
        sys.exit(f"the reason has changed: a killed static member that returns is refused with {text}")
    print(f"    a killed static member that returns is refused: {text[:130]}")


def session(servers):
    try:
        consumer(servers, "session", **{"session.timeout.ms": 18000}).close()
    except KafkaException as error:
        print(f"    a client cannot choose its session: {error.args[0].str()}")
        return
    sys.exit("the reason is gone: a client can choose its session with group.protocol=consumer")


def main():
    servers = sys.argv[1]
    if sys.argv[2:] == ["join"]:
        return join(servers)
    print(f"    librdkafka {confluent_kafka.libversion()[0]}")
    admin = AdminClient({"bootstrap.servers": servers})
    for future in admin.create_topics([NewTopic(topic, LANES, 1) for topic in ["orders", "ledger"]]).values():
        future.result(30)
    copartitioning(servers)
    session(servers)
    returns(servers)


main()
