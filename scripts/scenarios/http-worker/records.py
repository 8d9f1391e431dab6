"""Reads the topics of a run with kcat, as an independent `read_committed` reader, and the ledger by its documented
format."""

import base64
import json
import subprocess
from datetime import UTC, datetime


def milliseconds(text):
    time = datetime.fromisoformat(text).astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return round(time.total_seconds() * 1000)


def kcat(bootstrap, topic, *options, isolation="read_committed"):
    command = ["kcat", "-C", "-q", "-e", "-b", bootstrap, "-t", topic, "-o", "beginning"]
    command += ["-X", f"isolation.level={isolation}", *options]
    return subprocess.run(command, capture_output=True, check=True, timeout=120).stdout


def records(bootstrap, topic):
    """The records of a topic in the order of their offsets: (headers, key, value), with texts."""
    lines = [json.loads(line) for line in kcat(bootstrap, topic, "-J").splitlines()]
    lines.sort(key=lambda line: (line["partition"], line["offset"]))
    for line in lines:
        names = iter(line.get("headers") or [])
        yield dict(zip(names, names, strict=True)), line["key"], line["payload"]


def notifications(bootstrap, topic):
    """The notifications of a topic, each once, as (key, payload)."""
    seen = set()
    for headers, key, value in records(bootstrap, topic):
        if headers["ce_id"] in seen:
            continue
        seen.add(headers["ce_id"])
        part = value.split(".")[1]  # the payload of the signed token
        yield key, json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def events(bootstrap, topic):
    """The events of a topic, as (id, name, key, data)."""
    for headers, key, value in records(bootstrap, topic):
        yield headers["ce_id"], headers["ce_type"].rsplit(".", 1)[1], key, json.loads(value)


def aborted(bootstrap, topic):
    """The number of records in transactions that were aborted."""
    read = [kcat(bootstrap, topic, "-J", isolation=f"read_{level}") for level in ("uncommitted", "committed")]
    return len(read[0].splitlines()) - len(read[1].splitlines())


def short_time(data):
    """The time at the start of these bytes: seven bits in each, doubled, with the sign in the lowest bit."""
    number = 0
    for place, byte in enumerate(data):
        number |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return number >> 1 ^ -(number & 1)
    raise ValueError("the time has no end")


def ledger(bootstrap, topic):
    """The states and the timers in a ledger: {key: state} and {(key, name): milliseconds}."""
    data = kcat(bootstrap, topic, "-D", "", "-f", "%p %o %K %S\n%k%s")
    found, at = [], 0
    while at < len(data):
        end = data.index(b"\n", at)
        partition, offset, key_size, size = (int(word) for word in data[at:end].split())
        key = data[end + 1 : end + 1 + max(0, key_size)]
        at = end + 1 + len(key) + max(0, size)
        found.append((partition, offset, key, data[at - size : at] if size >= 0 else None))
    newest = {}
    for partition, _, key, value in sorted(found, key=lambda record: record[:2]):
        newest[partition, key] = value
    states, timers = {}, {}
    for (_, key), value in newest.items():
        kind, name = key[:1], key[1:].decode(errors="replace")
        if value is None or kind not in (b"s", b"t"):
            continue
        assert value[0] == (2 if kind == b"t" else 1), f"the ledger has version {value[0]} of {name}"
        if kind == b"t":
            timers[tuple(name.split("/", 2)[1:])] = short_time(value[2:])
        else:
            # A state whose key is its name has no key of its own.
            assert value[1] == 0, f"the state {name} has another key"
            states[name] = json.loads(value[2:])
    return states, timers
