"""Compares the events about consumables with the notifications that the simulator sent.

usage: consumables.py SENT EVENTS [--complete]

SENT has the simulator's delivery attempts, and EVENTS the type and the content of each event, one JSON object in a line.
The newest event about a consumable has to be that of the newest notification about it. Without --complete it may differ if
that notification was lost, and each difference is printed.
"""

import base64
import json
import sys

EVENTS = {"ONE_TIME_CHARGE": "completed", "REFUND": "revoked", "REFUND_REVERSED": "reinstated"}


def lines(name):
    # The simulator is still writing the last line.
    with open(name, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def payload(token):
    text = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def notifications(attempts):
    """Returns the newest notification about each consumable, and whether it arrived."""
    arrived = {attempt["notificationUUID"] for attempt in attempts if attempt.get("status") == 200}
    newest = {}
    for attempt in attempts:
        outer = payload(json.loads(attempt["body"])["signedPayload"])
        token = outer.get("data", {}).get("signedTransactionInfo")
        transaction = payload(token) if token else {}
        if transaction.get("type") != "Consumable" or outer["notificationType"] not in EVENTS:
            continue
        found = (outer["signedDate"], EVENTS[outer["notificationType"]], attempt["notificationUUID"] in arrived)
        key = transaction["transactionId"]
        newest[key] = max(newest.get(key, found), found)
    return newest


def events(rows, until):
    """Returns the newest event about each consumable that was signed by a time."""
    newest = {}
    for row in rows:
        if row["signed"] > until:
            continue
        found = (row["signed"], row["type"].rsplit(".", 1)[-1])
        newest[row["transactionId"]] = max(newest.get(row["transactionId"], found), found)
    return {key: name for key, (_, name) in newest.items()}


def main(sent, published, *options):
    told = notifications(lines(sent))
    if not told:
        sys.exit("no consumable was bought")
    known = events(lines(published), max(signed for signed, _, _ in told.values()))
    differing = {key: name for key, (_, name, _) in told.items() if known.get(key) != name}
    for key, name in sorted(differing.items()):
        print(f"      {key}: {name} at Apple, {known.get(key, 'nothing')} published")
    kinds = sorted({name for _, name, _ in told.values()})
    print(f"    {len(told)} consumables ({', '.join(kinds)}), {len(differing)} differ")
    unexplained = [key for key in differing if told[key][2] or "--complete" in options]
    if unexplained:
        sys.exit(f"nothing explains the difference of {unexplained}")
    if "--complete" in options and len(kinds) < len(EVENTS):
        sys.exit("too few kinds of events to mean anything")


main(*sys.argv[1:])
