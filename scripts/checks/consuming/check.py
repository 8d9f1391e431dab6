"""Runs an example of docs/consuming.md on a real Kafka and compares its output.

    check.py LANGUAGE PAGE BOOTSTRAP DIRECTORY [JARS]

It replaces the address and the topic in the code. The topic has records of every sort: genuine, repeated, forged, damaged,
without headers, without a value, of version 1, and of an aborted transaction. Each genuine notification must be printed
once. Examples that do not verify print the forged ones too. A second run continues behind the first.
"""

import datetime
import json
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import threading
import uuid

import confluent_kafka
from confluent_kafka.admin import AdminClient, NewTopic

from signing import Chain

SIGNED = datetime.datetime(2020, 1, 6, 3, 22, 2, tzinfo=datetime.UTC)
MILLISECONDS = int(SIGNED.timestamp()) * 1000
APP = {"bundleId": "com.example.app", "environment": "Production"}
SECONDS = 90


def fail(text):
    sys.exit(f"{sys.argv[1]}: {text}")


class Topic:
    """A topic with the records of Millrace, and others."""

    def __init__(self, bootstrap, name):
        self.settings = {"bootstrap.servers": bootstrap, "log_level": 3}
        self.name = name
        self.admin = AdminClient(self.settings)
        self.genuine, self.strange = Chain(SIGNED), Chain(SIGNED)
        self.admin.create_topics([NewTopic(name, num_partitions=1, replication_factor=1)])[name].result(30)

    def delete(self):
        self.admin.delete_topics([self.name])[self.name].result(30)

    def refund(self, id, transaction, chain=None, has_transaction=True):
        """The token of a REFUND."""
        chain = chain or self.genuine
        data = {"appAppleId": 1234567890, **APP}
        if has_transaction:
            data["signedTransactionInfo"] = chain.token(
                {"transactionId": transaction, "signedDate": MILLISECONDS, "revocationDate": MILLISECONDS, **APP}
            )
        payload = {"notificationType": "REFUND", "notificationUUID": id, "version": "2.0", "signedDate": MILLISECONDS}
        return chain.token({**payload, "data": data})

    def headers(self, id, content_type="application/jose"):
        return {
            "content-type": content_type,
            "ce_specversion": "1.0",
            "ce_id": id,
            "ce_source": "appstore/production/com.example.app",
            "ce_type": "com.apple.appstore.notification.v2.REFUND",
        }

    def write(self, records, transaction=None):
        """Writes pairs of value and headers. `abort` as the transaction makes them invisible."""
        settings = dict(self.settings)
        if transaction:
            settings["transactional.id"] = f"{self.name}-writer"
        producer = confluent_kafka.Producer(settings)
        if transaction:
            producer.init_transactions(30)
            producer.begin_transaction()
        for value, headers in records:
            producer.produce(self.name, value=value, key="2000000100000918", headers=headers)
        if producer.flush(30):
            fail("could not write the records")
        if transaction == "abort":
            producer.abort_transaction(30)
        elif transaction:
            producer.commit_transaction(30)

    def fill(self):
        first = self.refund("first", "1001")
        self.write([(self.refund("aborted", "666"), self.headers("aborted"))], transaction="abort")
        self.write(
            [
                (first, self.headers("first")),
                (first, self.headers("first")),
                (first, None),
                (first, {}),
                (first, {"ce_id": None, "content-type": None}),
                (None, self.headers("tombstone")),
                (b"", self.headers("empty")),
                ("not a token", self.headers("damaged")),
                ("a.b.c", self.headers("damaged-too")),
                (first[:-20], self.headers("cut")),
                (json.dumps({"notification_type": "CANCEL"}), self.headers("version-1", "application/json")),
                (self.refund("forged", "1002", self.strange), self.headers("forged")),
                (self.refund("empty", "1003", has_transaction=False), self.headers("no-transaction")),
                (first, self.headers("first")),
            ]
        )
        self.write([(self.refund("second", "1004"), self.headers("second"))], transaction="commit")


def code(page, language, bootstrap, topic):
    """The first block of this language on the page, with another address and topic."""
    blocks = page.read_text().split(f"```{language}\n")
    text = blocks[1].split("```\n")[0]
    for old, new in [("localhost:9092", bootstrap), ("appstore.notifications.refunds", topic)]:
        if text.count(old) != 1:
            fail(f"the example has {old} {text.count(old)} times")
        text = text.replace(old, new)
    return text


def command(language, text, directory, jars):
    """Writes the code of an example and returns the command that runs it."""
    if language == "python":
        (directory / "example.py").write_text(text)
        return [sys.executable, "example.py"]
    if language == "javascript":
        client = directory / "node_modules" / "@confluentinc" / "kafka-javascript"
        client.mkdir(parents=True)
        shutil.copy(pathlib.Path(__file__).parent / "kafka-javascript.js", client / "index.js")
        (directory / "example.js").write_text(text)
        return ["node", "example.js"]
    (directory / "RefundMailer.java").write_text(text)
    path = f"{directory}:{jars}/*"
    subprocess.run(
        ["javac", "-Xlint:all,-path", "-cp", path, "-d", directory, directory / "RefundMailer.java"], check=True
    )
    return ["java", "-Xmx128m", "-cp", path, "RefundMailer"]


class Run:
    """A running example, and its lines."""

    def __init__(self, command, directory, number):
        self.errors = directory / f"errors-{number}.log"
        self.lines = queue.Queue()
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                command, cwd=directory, stdout=subprocess.PIPE, stderr=errors, text=True, env={**os.environ}
            )
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip())
        self.lines.put(None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)

    def until(self, last):
        """The lines up to and including one."""
        lines = []
        while not lines or lines[-1] != last:
            try:
                line = self.lines.get(timeout=SECONDS)
            except queue.Empty:
                line = None
            if line is None:
                sys.stderr.write(self.errors.read_text())
                fail(f"did not print {last!r}; printed {lines}")
            lines.append(line)
        return lines


def expect(found, wanted):
    if found != wanted:
        fail(f"printed {found}, expected {wanted}")


def main():
    language, page, bootstrap, directory = sys.argv[1:5]
    jars = sys.argv[5] if len(sys.argv) > 5 else ""
    directory = pathlib.Path(directory)
    prefix = os.environ.get("KAFKA_TEST_PREFIX", "test-")
    topic = Topic(bootstrap, f"{prefix}consuming-{uuid.uuid4().hex[:8]}")
    try:
        (directory / "AppleRootCA-G3.cer").write_bytes(topic.genuine.root)
        text = code(pathlib.Path(page), language, bootstrap, topic.name)
        # Groups of several runs on one cluster must not meet.
        text = text.replace("refund-mailer", topic.name)
        run_command = command(language, text, directory, jars)
        topic.fill()
        # Only Python verifies.
        forged = [] if language == "python" else ["cut REFUND 1001", "forged REFUND 1002"]
        with Run(run_command, directory, 1) as run:
            expect(run.until("second REFUND 1004"), ["first REFUND 1001", *forged, "second REFUND 1004"])
            # The output of this record shows that the offsets of the earlier ones are committed or about to be.
            topic.write([(topic.refund("third", "1005"), topic.headers("third"))])
            expect(run.until("third REFUND 1005"), ["third REFUND 1005"])
        if language != "javascript":  # The stand-in commits every few seconds.
            topic.write([(topic.refund("fourth", "1006"), topic.headers("fourth"))])
            with Run(run_command, directory, 2) as run:
                again = run.until("fourth REFUND 1006")
            if again not in (["fourth REFUND 1006"], ["third REFUND 1005", "fourth REFUND 1006"]):
                fail(f"after a restart it printed {again}")
    finally:
        topic.delete()
    print(f"{language}: every refund once, in spite of repeated, damaged, unlabelled and aborted records")


if __name__ == "__main__":
    main()
