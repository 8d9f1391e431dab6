"""Counts the published events, and checks that each was published once.

usage: repeated.py EVENTS

EVENTS has the records of appstore.events.* as `kcat -J` prints them. Prints the number of records and of different events.
The backfill of the scenario goes back further than `ledgerHorizon`, and only the ledger recognizes the purchase of a
consumable and the failure of an extension. Their events may therefore appear again after the horizon. No other event may.
"""

import collections
import json
import sys

# The horizon is eight days. A worker may write an event later than the time in the ledger's entry, by seconds. Ten seconds
# are a simulated day.
HORIZON = 7 * 86_400_000


def headers(record):
    pairs = record["headers"]
    return dict(zip(pairs[::2], pairs[1::2]))


def is_allowed(records):
    """Whether only the ledger recognizes this event, and each record of it was published after the horizon of the last."""
    kind = headers(records[0])["ce_type"]
    is_consumable = json.loads(records[0]["payload"]).get("productType") == "Consumable"
    if ".extension." not in kind and not (kind.endswith(".purchase.completed") and is_consumable):
        return False
    times = sorted(int(headers(record)["millrace-time"]) for record in records)
    return all(later - earlier >= HORIZON for earlier, later in zip(times, times[1:]))


def main(name):
    published = collections.defaultdict(list)
    with open(name, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            published[headers(record)["ce_id"]].append(record)
    repeated = {id: records for id, records in published.items() if len(records) > 1}
    wrong = {id: records for id, records in repeated.items() if not is_allowed(records)}
    print(f"{sum(map(len, published.values()))}|{len(published)}")
    print(f"    {len(repeated)} events were published again, {len(repeated) - len(wrong)} of them because the ledger no longer"
          " listed them", file=sys.stderr)
    for id, records in sorted(wrong.items()):
        places = [(record["partition"], record["offset"], headers(record)["millrace-time"]) for record in records]
        print(f"      {id} {headers(records[0])['ce_type']}: {places}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


main(*sys.argv[1:])
