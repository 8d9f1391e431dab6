"""Breaks a deployment in many ways at once, and checks what an operator is told. See scripts/check signals --help.

usage: run.py --bin DIR --kafka SERVERS --directory DIR [--all]

A row says for each channel which text must appear within a minute after everything is broken, or None if the channel has
nothing to say about it.
"""

import argparse
import collections
import http.server
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "examples" / "alerts"))
import receiver  # noqa: E402

LIMIT = 60
# The seconds that a condition has to hold before it is posted.
AFTER = 15
# The seconds after which Kafka gives up a member that it does not hear from: `session.timeout.ms` of librdkafka.
SESSION = 45
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

parser = argparse.ArgumentParser()
parser.add_argument("--bin", required=True)
parser.add_argument("--kafka", required=True)
parser.add_argument("--directory", type=pathlib.Path, required=True)
parser.add_argument("--all", action="store_true")
arguments = parser.parse_args()
directory = arguments.directory
root = pathlib.Path(__file__).resolve().parents[3]

Row = collections.namedtuple("Row", "name log status doctor alert gate", defaults=(None, None, None, None, False))


def dead_letters(name):
    return rf'"condition":"dead-letters","of":"{name}'


# What is broken → what the log of a process, `status`, `doctor` and an alert say.
ROWS = [
    Row("a worker is not started", None, r'"condition":"worker-not-running","of":"renewal-extensions"',
        r'"check":"workers","result":"failure","of":"renewal-extensions","detail":"no process of the worker runs"',
        r"worker-not-running: renewal-extensions: no process", True),
    Row("a worker is killed", None, r'"condition":"worker-not-running","of":"refunds"',
        r'"check":"workers","result":"failure","of":"refunds"', r"worker-not-running: refunds: no process", True),
    Row("a worker has the wrong root", ("decoder", r"a record became a dead letter.*unverified"),
        dead_letters("decoder/unverified") + r'.*check trust\.roots',
        r'"check":"conditions".*"of":"decoder/unverified"', r"dead-letters: decoder/unverified:.*\n.*trust\.roots"),
    Row("a record is poison", ("subscriptions", r"a record became a dead letter"), dead_letters("subscriptions/"),
        r'"check":"conditions".*"of":"subscriptions/', r"dead-letters: subscriptions/", True),
    Row("a receiver answers 410", ("worker", r"the circuit is open.*webhook-gone|webhook-gone.*the circuit is open"),
        r'"condition":"circuit-open","of":"webhook-gone","detail":"[^"]*answered 410',
        r'"of":"workers.webhook-gone.settings","detail":"answered 410', r"circuit-open: webhook-gone:.*answered 410", True),
    Row("a receiver answers 401", ("worker", r"webhook-denied.*refused|refused.*webhook-denied"),
        dead_letters("webhook-denied/refused"), r'"check":"conditions".*"of":"webhook-denied/refused"',
        r"dead-letters: webhook-denied/refused"),
    Row("an endpoint throws", ("worker", r'the circuit is open.*"throws"|"throws".*the circuit is open'),
        r'"condition":"circuit-open","of":"throws"', r'"of":"workers.throws.handler","detail":"answered 500',
        r"circuit-open: throws: the endpoint fails", True),
    Row("an endpoint is down", ("worker", r'the circuit is open.*"away"|"away".*the circuit is open'),
        r'"condition":"circuit-open","of":"away"', r'"of":"workers.away.handler","detail":"no answer',
        r"circuit-open: away: the endpoint fails"),
    Row("PostgreSQL is stopped", ("postgres", r"beginning again"), r'"condition":"postgres"',
        r'"check":"(postgres|conditions)","result":"failure"[^\n]*postgres', r"postgres: postgres:"),
    Row("a certificate expires", ("tls", r"certificate expires soon|expires"), r'"condition":"certificate"',
        r'"check":"certificates".*expires at', r"certificate: ingress\.tls\.certificate:"),
    Row("the quarantine grows", ("ingress", r'"chain"|reason.*chain'), r'"condition":"quarantine","of":"chain"',
        r'"check":"conditions".*"of":"chain"', r"quarantine: chain:"),
    Row("a topic has other settings", None, None, r'"check":"topics".*retention\.ms is 1000', None),
    Row("a worker is behind", None, r'"condition":"lag","of":"refunds"', r'"check":"conditions".*"detail":"lag:',
        r"lag: refunds: its oldest unfinished record is from"),
    Row("a timer fails", ("worker", r'a timer failed.*"timers"|"timers".*a timer failed'),
        r'"condition":"timers-failing","of":"timers"', r'"check":"conditions".*"detail":"timers-failing:',
        r"timers-failing: timers:"),
    Row("Apple answers 401", None, None, r'"check":"apple","result":"[a-z]+","of":"com.example.app.*Sandbox.*401', None),
    Row("Apple answers 429", None, None, r'"check":"apple","result":"[a-z]+","of":"com.example.app.*Production.*429',
        None),
]

# A mistake in the configuration or on the command line → what the command says. No process starts with the first ones.
MISTAKES = [
    ("a typo in an event", {"webhooks": {"gone": {
        "url": "http://a", "secretFile": "s", "events": ["refund.decline"], "workers": ["refunds"]}}}, ["config"],
     r"no worker of this webhook publishes `refund\.decline`.*did you mean refund\.declined"),
    ("a typo in a family", {"workers": {"throws": {
        "families": ["refund"], "handler": {"url": "http://a", "secretFile": "s"}}}}, ["config"], r"refunds\?"),
    ("a typo in a property of librdkafka", {"kafka": {"properties": {"security.protokol": "ssl"}}}, ["config"],
     r"did you mean security\.protocol\?"),
    ("a typo in a key", {"alerts": {"webhok": {}}}, ["config"], r"did you mean `alerts\.webhook`\?"),
    ("a typo in a worker", {}, ["dead-letters", "list", "--worker", "refnds"], r"did you mean refunds\?"),
    ("a typo in a reason", {}, ["dead-letters", "list", "--worker", "decoder", "--reason", "unverifed"],
     r"did you mean unverified\?"),
    ("a typo in a command", {}, ["statsu"], r"status"),
    ("a wrong key", {"apps": [{"bundleId": "com.example.app", "environments": ["Sandbox"], "api": {
        "issuerId": "57246542-96fe-1a63-e053-0824d011072a", "keyId": "2X9R4HXF34", "privateKeyFile": "root.pem"}}]},
     ["doctor", "--skip", "test-notification", "--skip", "probe", "--skip", "endpoints", "--json"],
     r"privateKeyFile|root\.pem"),
]


def free_port():
    """Finds a port below those of outgoing connections, which could take it before a process listens on it."""
    while True:
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", random.randrange(20_000, 30_000)))
                return one.getsockname()[1]
            except OSError:
                continue


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers with the status that the path names; `/alerts` is the receiver of alerts."""

    protocol_version = "HTTP/1.1"
    alerts = []
    status = 204
    lock = threading.Lock()

    def answer(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        answer = b""
        if self.path == "/alerts":
            status = self.take(body)
        elif self.path == "/timers":
            # A notification sets a timer for the past, and the timer fails.
            status, data = 200, json.loads(body or b'{"data": {"kind": ""}}')["data"]
            answer = json.dumps(
                {"retry": {"reason": "no-mail"}} if data["kind"] == "timer"
                else {"timers": [{"name": "mail", "at": "2026-01-01T00:00:00Z"}]}).encode()
        else:
            status = int(self.path.strip("/").split("/")[0] or 404)
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST = do_PUT = answer

    def take(self, body):
        if not receiver.is_genuine(self.headers, body, SECRET):
            return 401
        with Answers.lock:
            if Answers.status < 300:
                Answers.alerts.append((self.headers["webhook-id"], json.loads(body)))
            return Answers.status

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
threading.Thread(target=server.serve_forever, daemon=True).start()
here = f"http://127.0.0.1:{server.server_address[1]}"


def config(name, **changes):
    """Writes a configuration as JSON, which is YAML."""
    handler = {"secretFile": str(directory / "secret")}
    policy = {"retryDelays": ["1s", "5s"]}
    webhook = {"secretFile": str(directory / "secret"), "refusedAttempts": 2}
    content = {
        "kafka": {"bootstrapServers": arguments.kafka, "durability": "relaxed"},
        "topics": {"lanes": 2},
        "trust": {"roots": [str(directory / "root.pem")]},
        "apps": [{"bundleId": "com.example.app", "environments": ["Sandbox"]}],
        "appStore": {"sandboxURL": f"{here}/401", "productionURL": f"{here}/429"},
        "workers": {
            **{worker: policy for worker in ("refunds", "subscriptions", "decoder", "renewal-extensions")},
            "throws": {**policy, "families": ["refunds"], "calls": [], "handler": {**handler, "url": f"{here}/500"}},
            "away": {**policy, "families": ["refunds"], "calls": [],
                     "handler": {**handler, "url": f"http://127.0.0.1:{free_port()}/"}},
            # Its timer fails until the end of the check.
            "timers": {**policy, "maximumAttempts": 1000, "families": ["refunds"], "calls": [],
                       "handler": {**handler, "url": f"{here}/timers"}},
            "webhook-gone": policy,
            "webhook-denied": policy,
        },
        "webhooks": {
            "gone": {**webhook, "url": f"{here}/410", "workers": ["refunds"]},
            "denied": {**webhook, "url": f"{here}/401", "workers": ["refunds"]},
        },
        "admin": {"port": 0},
    }
    for key, value in changes.items():
        content[key] = {**content.get(key, {}), **value} if isinstance(value, dict) else value
    path = directory / f"{name}.yaml"
    path.write_text(json.dumps(content, indent=1))
    return path


children = {}


def start(log, program, *options, path):
    output = open(directory / f"{log}.log", "w")
    children[log] = subprocess.Popen(
        [f"{arguments.bin}/{program}", *options], stdout=output, stderr=output, stdin=subprocess.DEVNULL,
        env={**os.environ, "MILLRACE_CONFIG": str(path), "HOSTNAME": log})


def run(*words, path):
    done = subprocess.run(
        [f"{arguments.bin}/millrace", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL,
        env={**os.environ, "MILLRACE_CONFIG": str(path), "USER": "check"})
    return done.stdout + done.stderr


def wait(what, holds, limit=LIMIT):
    end = time.monotonic() + limit
    while not holds():
        if time.monotonic() > end:
            sys.exit(f"not within {limit} s: {what}")
        time.sleep(0.5)


def log(name):
    path = directory / f"{name}.log"
    return path.read_text(errors="replace") if path.exists() else ""


def texts():
    with Answers.lock:
        return [post["text"] for _, post in Answers.alerts]


def simulate(name, port, root_file, *options):
    scenario = (directory / "scenario.yaml").read_text().replace("127.0.0.1:1/", f"127.0.0.1:{port}/")
    (directory / f"{name}.scenario.yaml").write_text(scenario)
    with open(directory / f"{name}.log", "w") as output:
        return subprocess.Popen(
            [f"{arguments.bin}/appstore-simulator", "run", str(directory / f"{name}.scenario.yaml"), "--port",
             str(free_port()), "--sandbox-port", str(free_port()), "--write-root", str(root_file), *options],
            stdout=output, stderr=output)


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True)


def main():
    (directory / "secret").write_text(SECRET + "\n")
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "5", "-subj", "/CN=localhost", "-keyout",
            str(directory / "tls.key"), "-out", str(directory / "tls.pem"))
    openssl("ecparam", "-genkey", "-name", "prime256v1", "-noout", "-out", str(directory / "ec.key"))
    openssl("pkcs8", "-topk8", "-nocrypt", "-in", str(directory / "ec.key"), "-out", str(directory / "key.p8"))
    port = free_port()
    plain = config("plain", ingress={"host": "127.0.0.1", "port": port})
    api = {"issuerId": "57246542-96fe-1a63-e053-0824d011072a", "keyId": "2X9R4HXF34",
           "privateKeyFile": str(directory / "key.p8")}
    operator = config(
        "operator", alerts={
            "webhook": {"url": f"{here}/alerts", "secretFile": str(directory / "secret")}, "after": f"{AFTER}s",
            "lag": "5s"},
        console={"proxy": "none", "port": 0}, postgres={"url": f"postgresql://nobody@127.0.0.1:{free_port()}/none"},
        ingress={"tls": {"certificate": str(directory / "tls.pem"), "key": str(directory / "tls.key")}},
        apps=[{"bundleId": "com.example.app", "appAppleId": 1234567890, "api": api}])
    print(run("topics", "apply", "--yes", path=plain).strip().splitlines()[-1])

    # Refunds, the events of the refunds worker, and a deployment that works.
    first = simulate("simulator", port, directory / "root.pem")
    wait("the simulator's root", (directory / "root.pem").exists)
    start("ingress", "millrace-ingress", path=plain)
    start("refunds", "millrace-refunds", path=plain)
    start("subscriptions", "millrace-subscriptions", path=plain)
    first.wait()

    def lag(worker):
        for line in run("status", "--json", path=plain).splitlines():
            state = json.loads(line) if line.startswith("{") else {}
            if state.get("worker") == worker:
                return state["lag"] if state["hasRun"] else None
        return None

    wait("the events of the refunds", lambda: lag("refunds") == 0)

    # Everything is broken from here on.
    broken = time.monotonic()
    children["refunds"].kill()
    subprocess.run(
        ["kcat", "-P", "-b", arguments.kafka, "-t", "appstore.notifications.subscriptions", "-k", "poison"],
        input=b"no notification", check=True)
    # The killed worker will not read it.
    subprocess.run(
        ["kcat", "-P", "-b", arguments.kafka, "-t", "appstore.notifications.refunds", "-k", "late"],
        input=b"no notification", check=True)
    subprocess.run(
        [str(root / "scripts" / "kafka"), "tool", "configs", "--bootstrap-server", arguments.kafka, "--alter",
         "--entity-type", "topics", "--entity-name", "appstore.notifications.tests", "--add-config", "retention.ms=1000"],
        check=True, capture_output=True)
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "9", "-subj",
            "/CN=other", "-keyout", str(directory / "other.key"), "-out", str(directory / "other.pem"))
    start("decoder", "millrace-decoder", path=config("other", trust={"roots": [str(directory / "other.pem")]}))
    start("worker", "millrace-worker", path=plain)
    start("postgres", "millrace-postgres", path=operator)
    start("tls", "millrace-ingress", path=config(
        "tls", ingress={"host": "127.0.0.1", "port": 0, "tls": {
            "certificate": str(directory / "tls.pem"), "key": str(directory / "tls.key")}}))
    simulate("forger", port, directory / "forger.pem", "--rate", "600")
    for console in ("console-1", "console-2"):
        start(console, "millrace-console", path=operator)

    rows = [row for row in ROWS if arguments.all or row.gate]
    found = collections.defaultdict(dict)
    outputs = {"status": "", "doctor": ""}

    def ask(command, *options):
        while True:
            outputs[command] = run(command, "--json", *options, path=operator)
            time.sleep(1)

    threading.Thread(target=ask, args=("status",), daemon=True).start()
    threading.Thread(target=ask, args=("doctor", "--skip", "test-notification"), daemon=True).start()

    def look():
        for row in rows:
            for channel in ("log", "status", "doctor", "alert"):
                wanted = getattr(row, channel)
                if wanted is None or channel in found[row.name]:
                    continue
                if channel == "log":
                    text, wanted = log(wanted[0]), wanted[1]
                else:
                    text = "\n".join(texts()) if channel == "alert" else outputs[channel]
                if re.search(wanted, text):
                    found[row.name][channel] = time.monotonic() - broken
        return all(len(found[row.name]) == sum(cell is not None for cell in row[1:5]) for row in rows)

    end = time.monotonic() + LIMIT * 2
    while not look() and time.monotonic() < end:
        time.sleep(0.5)

    print(f"{'broken':32}{'log':>8}{'status':>8}{'doctor':>8}{'alert':>8}")
    late = []
    for row in rows:
        cells = []
        for channel in ("log", "status", "doctor", "alert"):
            at = found[row.name].get(channel)
            if getattr(row, channel) is None:
                cells.append("–")
            elif at is None or at > LIMIT:
                cells.append("NONE" if at is None else f"{at:.0f} s!")
                late.append(f"{row.name}: {channel}")
            else:
                cells.append(f"{at:.0f} s")
        print(f"{row.name:32}" + "".join(f"{cell:>8}" for cell in cells))
    if late:
        print(outputs["status"][-4000:], outputs["doctor"][-4000:], "\n".join(texts()), sep="\n---\n")
        sys.exit("not within a minute: " + "; ".join(late))

    for what, changes, words, wanted in MISTAKES if arguments.all else []:
        said = run(*words, path=config("mistake", **changes))
        found_it = re.search(wanted, said, re.DOTALL)
        print(f"{what:40}{'said' if found_it else 'NOT SAID'}")
        if not found_it:
            sys.exit(f"{what}: {said[-2000:]}")

    # Each once, by one console.
    time.sleep(AFTER + 5)
    posts = [(post["type"], post["data"]["condition"], post["data"]["of"]) for _, post in Answers.alerts]
    repeated = [post for post, count in collections.Counter(posts).items() if count > 1 and post[1] != "lag"]
    if repeated:
        sys.exit(f"posted more than once: {repeated}")
    # The consoles start at the same time, so the partition can move once.
    began = {name: log(name).count("this process posts alerts") for name in ("console-1", "console-2")}
    if sum(began.values()) > 2:
        sys.exit(f"the consoles began to post too often: {began}")
    poster = re.search(r'"alerts":\{"instance":"(console-\d)"\}', outputs["status"])
    if not poster:
        sys.exit("status does not say which console posts")
    poster = poster[1]
    print(f"{len(posts)} alerts, each once, at last by {poster}")

    # The other console continues, and posts nothing again.
    children[poster].kill()
    other = "console-2" if poster == "console-1" else "console-1"
    wait("the other console posts", lambda: "this process posts alerts" in log(other))
    start("refunds", "millrace-refunds", path=plain)
    resolved = ("alert.resolved", "worker-not-running", "refunds")

    def all_posts():
        with Answers.lock:
            return [(post["type"], post["data"]["condition"], post["data"]["of"]) for _, post in Answers.alerts]

    wait("the end of the killed worker", lambda: resolved in all_posts())
    # It reads the record that waited for it.
    late = ("alert.firing", "dead-letters", "refunds/headers")
    wait("the dead letter of the worker that was started again", lambda: late in all_posts())
    repeated = [post for post, count in collections.Counter(all_posts()).items() if count > 1 and post[1] != "lag"]
    if repeated:
        sys.exit(f"after kill -9 posted again: {repeated}")
    print(f"kill -9 of {poster}: {other} continues, no alert is repeated, and the end of the killed worker is posted")

    # While Kafka is away, status and doctor say so, and nothing is posted that is not so.
    # Records of an open circuit move to retry topics, so the lag of these workers comes and goes.
    def steady():
        return [post for post in all_posts() if post[1] != "lag"]

    # That the receiver has the last alert is on the topic by then. Otherwise the next poster would have to repeat it.
    time.sleep(5)
    before = steady()
    kafka = [str(root / "scripts" / "kafka")]
    subprocess.run([*kafka, "pause", str(directory / "kafka"), "1"], check=True)
    paused = time.monotonic()
    outputs.update(status="", doctor="")
    wait("status about Kafka", lambda: "Kafka" in outputs["status"])
    # A doctor that had begun asks Kafka several times, and waits 15 seconds for each answer.
    wait("doctor about Kafka", lambda: re.search(r'"check":"cluster","result":"failure"', outputs["doctor"]), 2 * LIMIT)
    # Longer than the sessions: every worker loses its membership, and joins again.
    wait("the end of all sessions", lambda: time.monotonic() > paused + SESSION + 10)
    subprocess.run([*kafka, "resume", str(directory / "kafka"), "1"], check=True)
    wait("status after the pause", lambda: '"conditions":' in outputs["status"])
    time.sleep(3 * AFTER)
    if steady() != before:
        sys.exit(f"posted because Kafka was away: {steady()[len(before):]}")
    print("Kafka paused: status and doctor name it, no alert begins or ends")

    # A receiver that answers 410 is in the log, in status and in doctor, and gets the alert later.
    Answers.status = 410
    children["refunds"].kill()
    wait("the log of the refused alert", lambda: "an alert could not be posted" in log(other))
    wait("status about the receiver", lambda: '"problem":"answered 410"' in outputs["status"])
    wait("doctor about the receiver",
         lambda: re.search(r'"of":"alerts.webhook","detail":"the process that posts alerts says: answered 410',
                           outputs["doctor"]))
    Answers.status = 204
    again = ("alert.firing", "worker-not-running", "refunds")
    wait("the delayed alert", lambda: collections.Counter(all_posts())[again] == 2)
    print("410 to an alert: in log, status and doctor; posted when the receiver answered again")

    # Without a console, nothing is posted, and status and doctor say so.
    children[other].send_signal(signal.SIGTERM)
    children[other].wait()
    wait("status without a poster", lambda: '"alerts":{}' in outputs["status"])
    wait("doctor without a poster", lambda: "no process posts alerts" in outputs["doctor"])
    print("no console: status and doctor say that no process posts alerts")


try:
    main()
finally:
    for child in children.values():
        if child.poll() is None:
            child.kill()
