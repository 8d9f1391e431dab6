"""The provider of scripts/scenario consumption-day, and the check of its results.

usage: consumption-day.py serve PORT_FILE LOG CLOCK SEED
       consumption-day.py check DIRECTORY SEED RESULT
       consumption-day.py trap PORT LOG

`serve` runs an unreliable provider: it is slow, down from the third to the fifth hour, and sometimes wrong. SEED and the
transaction determine whether a customer consents, so `check` can compute it. CLOCK is the clock file of the simulator.
`trap` replaces Apple's API: it logs all requests and answers 503.
"""

import base64
import json
import random
import re
import sys
import threading
import time
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

AWAY = (3, 5)
CONSENTED = {
    "customerConsented": True,
    "deliveryStatus": "DELIVERED",
    "sampleContentProvided": False,
    "refundPreference": "DECLINE",
}


def customer(seed, transaction, product):
    """The provider's answer for a customer: consents, refuses, unknown, or breaks (an error)."""
    if product.endswith(".level"):
        return "breaks"
    luck = random.Random(f"{seed}/{transaction}").random()
    return "refuses" if luck < 0.1 else "unknown" if luck < 0.15 else "consents"


class Clock:
    """The simulated time in hours since the start of the day."""

    def __init__(self, path):
        text = open(path).read()
        self.rate = float(re.search(r"rate: *\"?([0-9.]+)", text).group(1))
        start = re.search(r"start: *\"?([0-9TZ:.+-]+)", text).group(1)
        self.start = datetime.fromisoformat(start.replace("Z", "+00:00")).timestamp()

    def hour(self):
        return (time.time() - self.start) * self.rate / 3600


def serve(port_file, log_file, clock_file, seed):
    tries, lock = {}, threading.Lock()
    log = open(log_file, "w", buffering=1)
    clock = Clock(clock_file)

    class System(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            question = json.loads(self.rfile.read(int(self.headers["content-length"])))
            transaction = question["transactionId"]
            with lock:
                before = tries.get(question["notificationUUID"], 0)
                tries[question["notificationUUID"]] = before + 1
            luck = random.Random(f"{seed}/{transaction}/{before}")
            time.sleep(luck.uniform(0.001, 0.01))
            status, body = self.answer(question, before, luck)
            log.write(json.dumps({"transaction": transaction, "status": status}) + "\n")
            text = body if isinstance(body, str) else json.dumps(body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def answer(self, question, before, luck):
            if AWAY[0] <= clock.hour() < AWAY[1]:
                return 503, ""
            kind = customer(seed, question["transactionId"], question.get("productId", ""))
            if kind != "consents":
                return {"refuses": 409, "unknown": 204, "breaks": 500}[kind], ""
            # At most two wrong answers, so that every request ends.
            fate = luck.random() if before < 2 else 1
            if fate < 0.05:
                return 200, "<html>"
            if fate < 0.1:
                return 200, {"customerConsented": True, "deliveryStatus": "SOON"}
            return (429, "") if fate < 0.15 else (200, CONSENTED)

        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 512

    server = Server(("127.0.0.1", 0), System)
    with open(port_file, "w") as file:
        file.write(str(server.server_address[1]))
    server.serve_forever()


def trap(port, log_file):
    log = open(log_file, "w", buffering=1)

    class Trap(BaseHTTPRequestHandler):
        def note(self):
            log.write(f"{self.command} {self.path}\n")
            self.send_error(503)

        do_GET = do_POST = do_PUT = note

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", int(port)), Trap)
    print("ready", flush=True)
    server.serve_forever()


def payload(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def requests(directory):
    """Requests answered 200, as (transaction, product) by notification; for version 1 by transaction."""
    asked = {}
    for line in open(f"{directory}/sent.jsonl"):
        attempt = json.loads(line)
        if attempt.get("status") != 200:
            continue
        body = json.loads(attempt["body"])
        if "signedPayload" in body:
            note = payload(body["signedPayload"])
            if note["notificationType"] != "CONSUMPTION_REQUEST":
                continue
            transaction = payload(note["data"]["signedTransactionInfo"])
            asked[note["notificationUUID"]] = (transaction["transactionId"], transaction["productId"])
        elif body["notification_type"] == "CONSUMPTION_REQUEST":
            asked[body["original_transaction_id"]] = (body["original_transaction_id"], "")
    return asked


def check(directory, seed, result):
    asked = requests(directory)
    faults, ends, risks, late = [], {}, {}, 0
    for line in open(f"{directory}/events.jsonl"):
        record = json.loads(line)
        headers = dict(zip(record["headers"][::2], record["headers"][1::2]))
        place = (record["partition"], record["offset"])
        name, event = headers["ce_type"].split(".consumption.", 1)[1], json.loads(record["payload"])
        name = name.removeprefix("consumption.")
        purchase = event["purchase"]
        key = purchase["notificationUUID"]
        if key not in asked:
            key = purchase["transactionId"]
        if name == "at-risk":
            risks.setdefault(key, (event, place))
            continue
        if name == "outcome":
            # Apple's decision after the answer. The request has ended before.
            continue
        if key in ends and ends[key][2] != headers["ce_id"]:
            faults.append(f"{key} ended twice: {ends[key][0]}, {name}")
        ends.setdefault(key, (name, event, headers["ce_id"], place))
    expected = {"consents": "sent", "refuses": "withheld", "unknown": "withheld", "breaks": "expired"}
    for key, (transaction, product) in asked.items():
        name, event, _, place = ends.get(key, ("nothing", {}, "", ()))
        kind = customer(seed, transaction, product)
        if name != expected[kind]:
            faults.append(
                f"{key} ({kind}) ended as {name}, expected {expected[kind]}: {event.get('reason')} {event.get('detail')}"
            )
        if name == "expired" or "lateBySeconds" in event:
            late += 1
            risk, told = risks.get(key, (None, None))
            if risk is None:
                faults.append(f"{key} was late without an at-risk event")
            # Records of one key are in one partition, in the order of writing.
            elif told >= place:
                faults.append(f"{key} was late, and its at-risk event at {told} is after its result at {place}")
            elif risk["remainingSeconds"] <= 0 and risk["reason"] != "lag":
                faults.append(f"{key} was late, and its at-risk event came after the deadline: {risk['reason']}")
    if not late:
        faults.append("no answer was late, so the run does not test late answers")
    report = json.load(open(f"{directory}/report.json"))
    for broken in report["rulesBroken"]:
        faults.append(f"rule broken: {json.dumps(broken)[:300]}")
    answers = {entry["endpoint"]: entry for entry in report["asked"] if "Consumption" in entry["endpoint"]}
    calls = sum(entry["count"] for entry in answers.values())
    taken = sum(entry["byStatus"].get("202", 0) for entry in answers.values())
    consents = sum(customer(seed, *purchase) == "consents" for purchase in asked.values())
    if taken != consents:
        faults.append(f"Apple accepted {taken} answers, but {consents} customers consented")
    hours = [hour for entry in answers.values() for hour in entry.get("fullestHours", [])]
    fullest = max(hours, key=lambda hour: hour["admitted"], default={"admitted": 0, "limit": 0})
    counts = {}
    for name, *_ in ends.values():
        counts[name] = counts.get(name, 0) + 1
    posts = sum(1 for _ in open(f"{directory}/provider.jsonl"))
    print(
        f"{len(asked)} requests: {', '.join(f'{count} {name}' for name, count in sorted(counts.items()))},"
        f" {len(risks)} at risk, {late} late; {posts} queries, {calls} calls to Apple,"
        f" at most {fullest['admitted']} of {fullest.get('limit')} in an hour"
    )
    with open(result, "w") as file:
        for transaction, name in sorted((asked[key][0], ends[key][0]) for key in asked if key in ends):
            file.write(f"{transaction} {name}\n")
    for fault in faults[:20]:
        print(fault, file=sys.stderr)
    sys.exit(1 if faults or not asked else 0)


if __name__ == "__main__":
    {"serve": serve, "check": check, "trap": trap}[sys.argv[1]](*sys.argv[2:])
