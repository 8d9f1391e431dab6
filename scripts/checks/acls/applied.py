"""Waits until every node of a cluster has applied a change of kafka-acls.sh. Takes the arguments of that command.

The controllers answer a change when most of them have stored it. A node learns that with its next fetch of the metadata,
up to half a second later, and until then it decides by the old rights.
"""

import argparse
import itertools
import socket
import struct
import sys
import time

# Kafka's numbers (kafka.apache.org/protocol, and AclOperation.java).
OPERATIONS = {"Read": 3, "Write": 4, "Create": 5, "Delete": 6, "Alter": 7, "Describe": 8, "DescribeConfigs": 10,
              "AlterConfigs": 11, "IdempotentWrite": 12}
RESOURCES = {"topic": 2, "group": 3, "transactional_id": 5}
PATTERNS = {"literal": 3, "prefixed": 4}
DESCRIBE_ACLS, ALLOW = 29, 3
SECONDS = 30


def text(value):
    return struct.pack(">h", len(value)) + value.encode()


def receive(link, count):
    data = b""
    while len(data) < count:
        part = link.recv(count - len(data))
        if not part:
            raise OSError("the node closed the connection")
        data += part
    return data


def has(node, principal, resource, name, pattern, operation):
    """Whether a node knows a right; asks with DescribeAcls, version 1."""
    host, _, port = node.rpartition(":")
    request = struct.pack(">hhi", DESCRIBE_ACLS, 1, 1) + text("check") + struct.pack(">b", RESOURCES[resource])
    request += text(name) + struct.pack(">b", PATTERNS[pattern]) + text(principal) + text("*")
    request += struct.pack(">bb", OPERATIONS[operation], ALLOW)
    with socket.create_connection((host, int(port)), 5) as link:
        link.settimeout(5)
        link.sendall(struct.pack(">i", len(request)) + request)
        answer = receive(link, struct.unpack(">i", receive(link, 4))[0])
    # The correlation id and the throttle time precede the error, and a nullable text the array of resources.
    error, length = struct.unpack_from(">hh", answer, 8)
    if error:
        raise SystemExit(f"{node} answers DescribeAcls with the error {error}")
    return struct.unpack_from(">i", answer, 12 + max(0, length))[0] > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap-server", required=True, help="every node of the cluster")
    change = parser.add_mutually_exclusive_group(required=True)
    change.add_argument("--add", action="store_true")
    change.add_argument("--remove", action="store_true")
    parser.add_argument("--force", action="store_true")
    parser.add_argument("--allow-principal", required=True)
    parser.add_argument("--operation", action="append", required=True, choices=OPERATIONS)
    parser.add_argument("--resource-pattern-type", default="literal", choices=PATTERNS)
    for resource in RESOURCES:
        parser.add_argument("--" + resource.replace("_", "-"), action="append", default=[])
    arguments = parser.parse_args()
    resources = [(resource, name) for resource in RESOURCES for name in getattr(arguments, resource)]
    end = time.monotonic() + SECONDS
    for node, (resource, name), operation in itertools.product(
            arguments.bootstrap_server.split(","), resources, arguments.operation):
        while has(node, arguments.allow_principal, resource, name, arguments.resource_pattern_type,
                  operation) != arguments.add:
            if time.monotonic() > end:
                sys.exit(f"{node} has not applied {operation} of {resource} {name} after {SECONDS} s")
            time.sleep(0.02)


main()
