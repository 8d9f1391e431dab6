"""What must be in Kafka after a run, computed from the notifications alone."""

import collections

from records import milliseconds

REMINDER = 86_400_000


class Model:
    def __init__(self, notifications):
        """Reads (key, payload) in the order of the topic."""
        self.notifications = 0
        self.states = {}
        self.timers = {}
        # The notifications of a key in order, and those that lead to an offer, in any order.
        self.seen = collections.defaultdict(list)
        self.offers = collections.defaultdict(set)
        for key, payload in notifications:
            self.add(key, payload)

    def add(self, key, payload):
        self.notifications += 1
        id, signed = payload["notificationUUID"], payload["signedDate"]
        self.seen[key].append(id)
        state = self.states.setdefault(key, {"seen": 0, "fired": 0, "answered": 0, "left": None, "returned": None})
        state["seen"] += 1
        type = payload["notificationType"]
        if (type, payload.get("subtype")) == ("EXPIRED", "VOLUNTARY"):
            self.offers[key].add(id)
            # Every offer is due before the run ends.
            state["fired"] += 1
            state["answered"] += 1
            state["left"] = max(state["left"] or 0, signed)
        elif type in ("DID_RENEW", "SUBSCRIBED"):
            state["returned"] = max(state["returned"] or 0, signed)
        if state["left"] and state["left"] > (state["returned"] or 0):
            self.timers[key, "reminder"] = state["left"] + REMINDER
        else:
            self.timers.pop((key, "reminder"), None)

    @property
    def events(self):
        return self.notifications + 2 * sum(len(ids) for ids in self.offers.values())

    def differences(self, events, states, timers, journal, requeued):
        """A sentence for each difference between the model and a run.

        `requeued` has the keys with a requeued record, which may come late."""
        copies = collections.Counter(id for id, *_ in events)
        found = [f"the event {id} exists {count} times" for id, count in copies.items() if count > 1]
        found += self.differing_events(events, requeued)
        states = {
            key: state | {name: state[name] and milliseconds(state[name]) for name in ("left", "returned")}
            for key, state in states.items()
        }
        for key in sorted(self.states.keys() | states.keys()):
            if self.states.get(key) != states.get(key):
                found.append(f"the state of {key} is {states.get(key)}, expected {self.states.get(key)}")
        for key in sorted(self.timers.keys() | timers.keys()):
            if self.timers.get(key) != timers.get(key):
                found.append(f"the timer {key} is at {timers.get(key)}, expected {self.timers.get(key)}")
        return found + self.differing_requests(events, journal)

    def differing_events(self, events, requeued):
        by_name = collections.defaultdict(list)
        for _, name, key, data in events:
            by_name[name, key].append((data["number"], data["cause"]))
        found = []
        for key in sorted(self.seen.keys() | {key for _, key in by_name}):
            seen, wanted = sorted(by_name["seen", key]), self.seen[key]
            numbers, causes = [number for number, _ in seen], [cause for _, cause in seen]
            if key in requeued:
                causes, wanted = sorted(causes), sorted(wanted)
            if causes != wanted or numbers != list(range(1, len(wanted) + 1)):
                found.append(f"the events `seen` of {key} are {seen}, expected {wanted}")
            for name, prefix in [("fired", "offer/"), ("answered", "status/")]:
                made = sorted(by_name[name, key])
                numbers, causes = [number for number, _ in made], sorted(cause for _, cause in made)
                wanted = sorted(prefix + id for id in self.offers[key])
                if causes != wanted or numbers != list(range(1, len(wanted) + 1)):
                    found.append(f"the events `{name}` of {key} are {made}, expected {wanted}")
        return found

    def differing_requests(self, events, journal):
        """Each cause has one `webhook-id`, which the endpoint saw, and each event is one of its decisions."""
        ids, decided = collections.defaultdict(set), set()
        for entry in journal:
            data = entry["data"]
            subject = data.get("notification", {}).get("id") or data.get("timer", data.get("call", {})).get("name")
            ids[data["key"], subject].add(entry["id"])
            for event in entry["outcome"]["events"]:
                decided.add((event["name"], data["key"], event["data"]["cause"], event["data"]["number"]))
        wanted = {(key, id) for key, seen in self.seen.items() for id in seen}
        wanted |= {
            (key, f"{name}/{id}")
            for key, offers in self.offers.items()
            for id in offers
            for name in ("offer", "status")
        }
        found = [f"the endpoint never saw {subject}" for subject in sorted(wanted - ids.keys())]
        found += [f"the endpoint saw {subject}, which does not exist" for subject in sorted(ids.keys() - wanted)]
        found += [f"{subject} has {len(own)} webhook-ids" for subject, own in ids.items() if len(own) > 1]
        shared = collections.Counter(id for own in ids.values() for id in own)
        found += [f"the webhook-id {id} has {count} subjects" for id, count in shared.items() if count > 1 or not id]
        for _, name, key, data in events:
            if (name, key, data["cause"], data["number"]) not in decided:
                found.append(f"the endpoint never decided on the event {name} {data} of {key}")
        return found
