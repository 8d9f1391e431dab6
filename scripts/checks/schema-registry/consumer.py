"""Reads the decoded topics with Confluent's client, whose deserializer checks each record against its schema.

usage: consumer.py BOOTSTRAP_SERVERS REGISTRY_URL PREFIX SENT

SENT is the file of the simulator with what it sent. The script fails unless it reads every accepted notification, each
once, and a token for every second one.
"""
import json
import sys
import time

from confluent_kafka import Consumer
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import JSONDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext

bootstrap, url, prefix, sent = sys.argv[1:]
accepted = {
    attempt["notificationUUID"]
    for attempt in map(json.loads, open(sent))
    if attempt.get("status") == 200 and attempt.get("notificationUUID")
}
if len(accepted) < 100:
    sys.exit(f"only {len(accepted)} notifications were accepted")
registry = SchemaRegistryClient({"url": url})
deserialize = JSONDeserializer(None, schema_registry_client=registry)
subjects = registry.get_subjects()
topics = [prefix + "appstore.decoded." + name for name in ("notifications", "transactions")]
assert set(subjects) == {f"{topic}-value" for topic in topics}, subjects
consumer = Consumer({
    "bootstrap.servers": bootstrap, "group.id": f"{prefix}registry-check", "auto.offset.reset": "earliest",
    "isolation.level": "read_committed",
})
consumer.subscribe(topics)
read = {topic: [] for topic in topics}
end = time.monotonic() + 120
while not accepted <= {row["notificationUUID"] for row in read[topics[0]]} or len(read[topics[1]]) < len(accepted) / 2:
    if time.monotonic() > end:
        sys.exit(f"read {len(read[topics[0]])} of {len(accepted)} notifications within two minutes")
    message = consumer.poll(1)
    if message is None:
        continue
    if message.error():
        sys.exit(str(message.error()))
    assert b"eyJ" not in message.value(), "a record contains a signed token"
    context = SerializationContext(message.topic(), MessageField.VALUE)
    read[message.topic()].append(deserialize(message.value(), context))
consumer.close()
ids = [row["notificationUUID"] for row in read[topics[0]] if row["verified"]]
if len(ids) != len(set(ids)):
    sys.exit("a notification has two records")
kinds = {}
for row in read[topics[1]]:
    kinds[row["kind"]] = kinds.get(row["kind"], 0) + 1
print(f"    read {len(ids)} signed notifications, each once, and the tokens {kinds}, all valid by their registered schemas")
