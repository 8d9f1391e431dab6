"""A consumer as teams write it: confluent-kafka and Apple's library, one process, offsets committed automatically.

    python consumer.py BOOTSTRAP TOPIC SETTINGS COUNT

Prints the number of verified records, the seconds from the first record to the last, and the CPU seconds of that time.
"""

import sys
import time
import uuid

import apple
from confluent_kafka import Consumer, KafkaException


def main():
    bootstrap, topic, settings, count = sys.argv[1:]
    verifier = apple.verifier(settings)
    consumer = Consumer({
        "bootstrap.servers": bootstrap,
        "group.id": f"bench-{uuid.uuid4()}",
        "auto.offset.reset": "earliest",
        "isolation.level": "read_committed",
    })
    consumer.subscribe([topic])
    verified, began, cpu = 0, 0.0, 0.0
    while verified < int(count):
        record = consumer.poll(10)
        if record is None:
            sys.exit(f"no record within 10 s; {verified} of {count} verified")
        if record.error():
            raise KafkaException(record.error())
        if verified == 0:
            began, cpu = time.monotonic(), time.process_time()
        apple.verify(verifier, record.value().decode())
        verified += 1
    print(verified, time.monotonic() - began, time.process_time() - cpu)
    consumer.close()


if __name__ == "__main__":
    main()
