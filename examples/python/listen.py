#!/usr/bin/env python3
"""Reads App Store notifications from Kafka without Millrace: confluent-kafka and the CloudEvents SDK.

    pip install -r requirements.txt
    python listen.py --bootstrap-servers localhost:9092 appstore.notifications.refunds

Prints one JSON object for each notification and skips duplicates, which Apple's retries and Kafka's can cause.
The notifications are not verified. Verify them with Apple's app-store-server-library before you act on them.
"""

import argparse
import base64
import json
import sys
from collections import OrderedDict

from cloudevents.core.bindings.kafka import KafkaMessage, from_kafka_event
from cloudevents.core.exceptions import CloudEventValidationError
from confluent_kafka import Consumer, KafkaException


class Seen:
    """The identities of the newest events. In CloudEvents, source and id together identify an event."""

    def __init__(self, capacity=100_000):
        self.capacity = capacity
        self.identities = OrderedDict()

    def add(self, event):
        """Adds an event. Returns whether it is new."""
        identity = (event.get_source(), event.get_id())
        if identity in self.identities:
            return False
        self.identities[identity] = None
        if len(self.identities) > self.capacity:
            self.identities.popitem(last=False)
        return True


def cloud_event(record):
    """Converts a Kafka record in binary content mode to its CloudEvent."""
    headers = {name: value for name, value in record.headers() or [] if value is not None}
    return from_kafka_event(KafkaMessage(headers=headers, key=record.key(), value=record.value() or b""))


def payload(event):
    """Returns Apple's payload: the middle of a JWS's three parts for version 2, the whole JSON body for version 1."""
    data = event.get_data()
    if event.get_datacontenttype() != "application/jose":
        return data
    middle = data.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))


def summary(event):
    said = payload(event)
    return {
        "id": event.get_id(),
        "type": event.get_type().rsplit(".", 1)[-1],
        "subtype": event.get_attributes().get("subtype"),
        "source": event.get_source(),
        "key": event.get_subject(),
        "version": event.get_type().split(".")[-2],
        "signedDate": said.get("signedDate"),
    }


def main():
    parser = argparse.ArgumentParser(description="Prints App Store notifications as JSON lines.")
    parser.add_argument("topics", nargs="+")
    parser.add_argument("--bootstrap-servers", default="localhost:9092")
    parser.add_argument("--group", default="python-example")
    parser.add_argument("--limit", type=int, help="stop after this many notifications")
    options = parser.parse_args()

    consumer = Consumer({
        "bootstrap.servers": options.bootstrap_servers,
        "group.id": options.group,
        "isolation.level": "read_committed",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
    })
    consumer.subscribe(options.topics)
    seen, printed = Seen(), 0
    try:
        while options.limit is None or printed < options.limit:
            record = consumer.poll(1.0)
            if record is None:
                continue
            if record.error():
                raise KafkaException(record.error())
            try:
                event = cloud_event(record)
                line = json.dumps(summary(event))
            except (CloudEventValidationError, ValueError, LookupError, AttributeError) as error:
                place = f"{record.topic()}[{record.partition()}]@{record.offset()}"
                print(f"{place} is not a notification: {error!r}", file=sys.stderr)
            else:
                if seen.add(event):
                    print(line, flush=True)
                    printed += 1
            # Commits after the work, so that a crash repeats it and loses nothing.
            consumer.commit(record, asynchronous=False)
    except KeyboardInterrupt:
        pass
    finally:
        consumer.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
