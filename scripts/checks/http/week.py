"""Plays a week with the fake App Store and compares the offers of the win-back workers with it.

week.py MILLRACE STORE PREFIX LANGUAGE...
"""

import collections
import json
import subprocess
import sys
import urllib.request

SECONDS = 400  # three days take 144 seconds
SURPLUS_SECONDS = 10  # five hours


def ask(url, body=None):
    with urllib.request.urlopen(url, json.dumps(body).encode() if body else None, timeout=30) as answer:
        return json.loads(answer.read())


def listen(millrace, limit, *options, seconds=SECONDS):
    """The first records of a topic or a family, as objects; fewer than `limit` if the others do not come in time."""
    command = [millrace, "listen", "--from", "earliest", "--json", "--limit", str(limit), *options]
    try:
        output = subprocess.run(command, capture_output=True, timeout=seconds).stdout
    except subprocess.TimeoutExpired as late:
        output = late.stdout or b""
    return [json.loads(line) for line in output.splitlines() if line.startswith(b"{")]


def main():
    millrace, store, prefix, *languages = sys.argv[1:]

    def happen(what, count, **fields):
        ask(f"{store}/simulator/events", {"do": what, "count": count, **fields})

    happen("purchase", 6, product="com.example.app.yearly")
    happen("expire", 5, reason="cancelled")
    happen("resubscribe", 2)
    seen = listen(millrace, 13, "--family", "subscriptions")
    story = collections.defaultdict(list)
    for record in seen:
        story[record["key"]].append(record["type"] + "/" + record.get("subtype", ""))
    stayed_away = {key for key, events in story.items() if events[-1] == "EXPIRED/VOLUNTARY"}
    if len(seen) != 13 or len(stayed_away) != 3:
        sys.exit(f"the fake App Store told another story: {dict(story)}")

    wrong = []
    for language in languages:
        topic = f"{prefix}appstore.events.winback-{language}"
        offers = listen(millrace, len(stayed_away), "--topic", topic)
        # The timers of those who returned would have been due in the same hours.
        offers = listen(millrace, len(offers) + 1, "--topic", topic, seconds=SURPLUS_SECONDS)
        keys = sorted(offer["key"] for offer in offers)
        print(f"{language}: {len(offers)} offers", flush=True)
        if keys != sorted(stayed_away):
            wrong.append(f"{language}: offers for {keys}, expected {sorted(stayed_away)}")
    asked = ask(f"{store}/simulator/report")["asked"]
    calls = {each["endpoint"]: each["count"] for each in asked}
    print(f"calls to Apple: {calls}")
    # One for each customer who stayed away: the timers of the others were cancelled.
    if calls != {"getAllSubscriptionStatuses": len(languages) * len(stayed_away)}:
        wrong.append(f"Apple was asked {calls}")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
