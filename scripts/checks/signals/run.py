"""Breaks a deployment in many ways, and checks what an operator is told. See scripts/check signals --help.

usage: run.py --bin DIR --kafka SERVERS --directory DIR [--all [--database SCRIPT --psql PROGRAM --port PORT]]

A row says for each channel which text must appear within a minute after its stage is broken, or None if the channel has
nothing to say about it. SCRIPT runs a PostgreSQL server at PORT in a mount namespace, with a small disk in DIR/small.
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
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "examples" / "alerts"))
import receiver  # noqa: E402

LIMIT = 60
# The seconds that a condition has to hold before it is posted.
AFTER = 15
# The seconds after which Kafka gives up a worker that it does not hear from: the longest session, that of a static member.
SESSION = 18
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

parser = argparse.ArgumentParser()
parser.add_argument("--bin", required=True)
parser.add_argument("--kafka", required=True)
parser.add_argument("--directory", type=pathlib.Path, required=True)
parser.add_argument("--all", action="store_true")
parser.add_argument("--database")
parser.add_argument("--psql")
parser.add_argument("--port", type=int)
arguments = parser.parse_args()
directory = arguments.directory
root = pathlib.Path(__file__).resolve().parents[3]

CHANNELS = ("log", "status", "doctor", "console", "alert")
Row = collections.namedtuple("Row", ("name", "stage") + CHANNELS + ("gate",), defaults=(False,))


def told(kind, of, detail="", doctor=None):
    """What `status`, `doctor`, the console and an alert say about a condition."""
    text = r'(?:[^"\\]|\\.)*'
    return (rf'"condition":"{kind}","of":"{of}","detail":"{text}{detail}',
            doctor or rf'"check":"(conditions|workers)","result":"failure","of":"{of}","detail":"({kind}: )?{text}{detail}',
            rf"<strong>{kind}:</strong> {of}: [^<]*{detail}", rf"{kind}: {of}: .*{detail}")


# What is broken → what the log of a process, `status`, `doctor`, the console and an alert say.
ROWS = [
    Row("a worker is not started", "together", None, *told("worker-not-running", "renewal-extensions", "no process"), True),
    Row("a worker is killed", "together", None, *told("worker-not-running", "refunds", "no process"), True),
    Row("a worker has the wrong root", "together", ("decoder", r"a record became a dead letter.*unverified"),
        *told("dead-letters", "decoder/unverified", "unverified")),
    Row("a record is poison", "together", ("subscriptions", r"a record became a dead letter"),
        *told("dead-letters", r"subscriptions/[a-z-]+"), True),
    Row("a receiver answers 410", "together",
        ("worker", r"the circuit is open.*webhook-gone|webhook-gone.*the circuit is open"),
        *told("circuit-open", "webhook-gone", "answered 410",
              r'"of":"workers.webhook-gone.settings","detail":"answered 410'), True),
    Row("a receiver answers 401", "together", ("worker", r"webhook-denied.*refused|refused.*webhook-denied"),
        *told("dead-letters", "webhook-denied/refused")),
    Row("an endpoint throws", "together", ("worker", r'the circuit is open.*"throws"|"throws".*the circuit is open'),
        *told("circuit-open", "throws", "the endpoint fails", r'"of":"workers.throws.handler","detail":"answered 500')),
    Row("an endpoint is down", "together", ("worker", r'the circuit is open.*"away"|"away".*the circuit is open'),
        *told("circuit-open", "away", "the endpoint fails", r'"of":"workers.away.handler","detail":"no answer')),
    Row("PostgreSQL is stopped", "together", ("postgres", r"beginning again"),
        *told("postgres", "postgres", doctor=r'"check":"(postgres|conditions)","result":"failure"[^\n]*postgres')),
    Row("a certificate expires", "together", ("tls", r"certificate expires soon|expires"),
        *told("certificate", r"ingress\.tls\.certificate", doctor=r'"check":"certificates".*expires at')),
    Row("the quarantine grows", "together", ("ingress", r'"chain"|reason.*chain'), *told("quarantine", "chain")),
    Row("a topic has other settings", "together", None, None, r'"check":"topics".*retention\.ms is 1000', None, None),
    Row("a worker is behind", "together", None, *told("lag", "refunds", "its oldest unfinished record is from")),
    Row("a timer fails", "together", ("worker", r'a timer failed.*"timers"|"timers".*a timer failed'),
        *told("timers-failing", "timers")),
    Row("a worker ends again and again", "workers", None, *told("worker-restarts", "again", "again-0 [0-9]+ times")),
    Row("Apple answers a worker 401", "workers",
        ("apple-401", r'Apple rejected a token'), *told("apple", "com.example.app/Sandbox", "401 to the calls of apple-401")),
    Row("Apple answers a worker 429", "workers", ("apple-429", r"Apple's rate limit is reached; calls are paused"),
        r'"pauses":\[\{"endpoint":"getRefundHistory","bundleId":"com.example.app","environment":"Sandbox"', None,
        r"(?s)getRefundHistory</span>.{0,200}<td>apple-429</td>.{0,80}<td><time", None),
    Row("the clock of a worker is wrong", "workers", None, *told("clock", "clock/clock-0", "its clock is about 2h behind")),
    Row("an unknown notification type", "workers", None, *told("unknown-type", "BRAND_NEW", "1 notification")),
    Row("the disk of PostgreSQL is full", "disk", ("postgres", r"beginning again.*53100.*free space"),
        *told("postgres", "postgres", r"No space left on device \(SQLSTATE 53100\); free space")),
    Row("Kafka is paused", "paused", ("console-[12]", r"reading from Kafka failed"), r"error: Kafka",
        r'"check":"cluster","result":"failure"', r"Kafka has not answered for", r"kafka: cluster: Kafka does not answer", True),
    Row("Kafka is stopped", "stopped", ("console-[12]", r"reading from Kafka failed.*Connection refused"),
        r"error: Kafka.*Connection refused", r'"check":"cluster","result":"failure"[^\n]*Connection refused',
        r"Kafka has not answered for", r"kafka: cluster: Kafka does not answer"),
]
# Rows that only the doctor can tell.
ROWS += [Row(f"Apple answers the doctor {status}", "together", None, None,
             rf'"check":"apple","result":"[a-z]+","of":"com.example.app.*{environment}.*{status}', None, None)
         for environment, status in (("Sandbox", 401), ("Production", 429))]

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
        elif self.path.startswith("/calls/"):
            # A notification orders a call to Apple.
            kind, operation = json.loads(body or b'{"data": {"kind": ""}}')["data"]["kind"], self.path[7:]
            status = 200
            answer = json.dumps({"calls": [
                {"name": "call", "operation": operation, "arguments": {"transactionId": "1"}}
            ]} if kind == "notification" else {}).encode()
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
            **{name: {**policy, "maximumAttempts": 1000, "families": ["refunds"], "calls": [operation],
                      "handler": {**handler, "url": f"{here}/calls/{operation}"}}
               for name, operation in (("apple-401", "getTransactionInfo"), ("apple-429", "getRefundHistory"))},
            **{name: {**policy, "families": ["refunds"], "calls": [], "staticMember": f"{name}-0",
                      "handler": {**handler, "url": f"{here}/204"}} for name in ("again", "clock")},
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


def start(log, program, *options, path, **environment):
    output = open(directory / f"{log}.log", "a")
    children[log] = subprocess.Popen(
        [f"{arguments.bin}/{program}", *options], stdout=output, stderr=output, stdin=subprocess.DEVNULL,
        env={**os.environ, "MILLRACE_CONFIG": str(path), "HOSTNAME": log, **environment})


def run(*words, path):
    done = subprocess.run(
        [f"{arguments.bin}/millrace", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL,
        env={**os.environ, "MILLRACE_CONFIG": str(path), "USER": "check"})
    return done.stdout + done.stderr


began = time.monotonic()


def say(text):
    print(f"{text} ({time.monotonic() - began:.0f} s)")


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


outputs = {"status": "", "doctor": "", "console": ""}
consoles = {}
asking = {}


def ask_again():
    """Ends the commands: one that has begun can wait for a minute for a Kafka that was there."""
    for process in list(asking.values()):
        process.kill()


def ask(command, *options, path):
    """Keeps the newest output of a command."""
    while True:
        asking[command] = subprocess.Popen(
            [f"{arguments.bin}/millrace", command, "--json", *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, text=True, env={**os.environ, "MILLRACE_CONFIG": str(path), "USER": "check"})
        outputs[command] = asking[command].communicate()[0]
        time.sleep(1)


def look_at_consoles():
    while True:
        pages = []
        for name, port in consoles.items():
            if children[name].poll() is None:
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as page:
                        pages.append(page.read().decode())
                except OSError:
                    pass
        outputs["console"] = "".join(pages)
        time.sleep(1)


class Stage:
    """Rows that are broken at the same time."""

    def __init__(self, name):
        self.rows = [row for row in ROWS if row.stage == name and (arguments.all or row.gate)]
        self.logs = {path: path.stat().st_size for path in directory.glob("*.log")}
        self.alerts = len(texts())
        self.found = collections.defaultdict(dict)
        self.began = time.monotonic()
        told = [f"{row.name}: {channel}" for row in self.rows for channel, text in outputs.items()
                if getattr(row, channel) is not None and re.search(getattr(row, channel), text)]
        if told:
            sys.exit("told before it is broken: " + "; ".join(told))

    def text(self, channel, wanted):
        if channel == "alert":
            return "\n".join(texts()[self.alerts:]), wanted
        if channel != "log":
            return outputs[channel], wanted
        paths = [path for path in directory.glob("*.log") if re.fullmatch(wanted[0], path.stem)]
        return "\n".join(path.read_text(errors="replace")[self.logs.get(path, 0):] for path in paths), wanted[1]

    def look(self):
        for row in self.rows:
            for channel in CHANNELS:
                wanted = getattr(row, channel)
                if wanted is not None and channel not in self.found[row.name]:
                    text, wanted = self.text(channel, wanted)
                    if re.search(wanted, text):
                        self.found[row.name][channel] = time.monotonic() - self.began
        return all(row_channel in self.found[row.name] for row in self.rows for row_channel in CHANNELS
                   if getattr(row, row_channel) is not None)

    def end(self):
        """Waits until every row is told, and prints the rows of the table."""
        limit = time.monotonic() + LIMIT * 2
        while not self.look() and time.monotonic() < limit:
            time.sleep(0.5)
        late = []
        for row in self.rows:
            cells = []
            for channel in CHANNELS:
                at = self.found[row.name].get(channel)
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


def simulate(name, port, root_file, *options, count=12):
    scenario = (directory / "scenario.yaml").read_text().replace("127.0.0.1:1/", f"127.0.0.1:{port}/")
    scenario = scenario.replace("count: 12", f"count: {count}")
    (directory / f"{name}.scenario.yaml").write_text(scenario)
    with open(directory / f"{name}.log", "w") as output:
        return subprocess.Popen(
            [f"{arguments.bin}/appstore-simulator", "run", str(directory / f"{name}.scenario.yaml"), "--port",
             str(free_port()), "--sandbox-port", str(free_port()), "--write-root", str(root_file), *options],
            stdout=output, stderr=output)


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True)


def keep_ending(path):
    """Ends a worker that a supervisor starts again each time: a static name stays in the group meanwhile."""
    for _ in range(8):
        before = log("again").count("started")
        start("again", "millrace-worker", "again", path=path)
        wait("the worker that ends", lambda: log("again").count("started") > before)
        time.sleep(3)
        children["again"].kill()
        children["again"].wait()
    start("again", "millrace-worker", "again", path=path)


def sql(text):
    done = subprocess.run(
        [arguments.psql, "-h", "127.0.0.1", "-p", str(arguments.port), "-U", "postgres", "-v", "VERBOSITY=verbose", "-c", text],
        capture_output=True, text=True)
    return done.stdout + done.stderr


def start_database():
    with open(directory / "database.log", "w") as output:
        children["database"] = subprocess.Popen(
            ["unshare", "--mount", "sh", arguments.database], stdout=output, stderr=output, stdin=subprocess.DEVNULL)
    wait("PostgreSQL", lambda: "(1 row)" in sql("SELECT 1"))


def fill_disk():
    """Fills the disk of the tables, down to the last page."""
    for rows in (1000, 10, 1):
        text = f"INSERT INTO filler SELECT repeat('x', 8000) FROM generate_series(1, {rows})"
        while "53100" not in (answer := sql(text)):
            if "INSERT" not in answer:
                sys.exit(f"the disk cannot be filled: {answer}")


def unwritten(path):
    """Returns the topics that have records which are not in the database."""
    lines = [json.loads(line) for line in run("postgres", "status", "--json", path=path).splitlines() if line[:1] == "{"]
    return [line["topic"] for line in lines if "topic" in line and line["lag"] != 0] if len(lines) > 1 else ["?"]


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
        console={"proxy": "none"},
        postgres={"url": f"postgresql://postgres@127.0.0.1:{arguments.port or free_port()}/postgres"},
        ingress={"tls": {"certificate": str(directory / "tls.pem"), "key": str(directory / "tls.key")}},
        apps=[{"bundleId": "com.example.app", "appAppleId": 1234567890, "api": api}])
    print(run("topics", "apply", "--yes", path=plain).strip().splitlines()[-1])

    # Refunds, the events of the refunds worker, and a deployment that works.
    chain = directory / "chain.pem"
    first = simulate("simulator", port, directory / "root.pem", "--rate", "600", "--write-chain", str(chain))
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
    say("a deployment that works")
    print(f"{'broken':32}" + "".join(f"{channel:>8}" for channel in CHANNELS))
    stage = Stage("together")
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
    start("worker", "millrace-worker", "throws", "away", "timers", "webhook-gone", "webhook-denied", path=plain)
    start("postgres", "millrace-postgres", path=operator)
    start("tls", "millrace-ingress", path=config(
        "tls", ingress={"host": "127.0.0.1", "port": 0, "tls": {
            "certificate": str(directory / "tls.pem"), "key": str(directory / "tls.key")}}))
    simulate("forger", port, directory / "forger.pem", "--rate", "600")
    for console in ("console-1", "console-2"):
        consoles[console] = free_port()
        start(console, "millrace-console", path=operator, MILLRACE_CONSOLE_PORT=str(consoles[console]))
    doctor = ("doctor", "--skip", "test-notification")
    for look, words in ((ask, ("status",)), (ask, doctor), (look_at_consoles, ())):
        threading.Thread(
            target=look, args=words, kwargs={"path": operator} if words else {}, daemon=True).start()
    stage.end()

    if arguments.all:
        stage = Stage("workers")
        start("clock", "millrace-worker", "clock", path=plain, LD_PRELOAD=str(directory / "clock.so"))
        for status in ("401", "429"):
            start(f"apple-{status}", "millrace-worker", f"apple-{status}", path=config(
                f"apple-{status}", appStore={"sandboxURL": f"{here}/{status}"},
                apps=[{"bundleId": "com.example.app", "environments": ["Sandbox"], "api": api}]))
        headers = {"ce_specversion": "1.0", "ce_id": "1", "ce_source": "appstore/Sandbox/com.example.app",
                   "ce_type": "com.apple.appstore.notification.v2.BRAND_NEW"}
        subprocess.run(
            ["kcat", "-P", "-b", arguments.kafka, "-t", "appstore.notifications.unrecognized", "-k", "1",
             *(word for name, value in headers.items() for word in ("-H", f"{name}={value}"))],
            input=b"e30.e30.e30", check=True)
        threading.Thread(target=keep_ending, args=(plain,), daemon=True).start()
        stage.end()

    for what, changes, words, wanted in MISTAKES if arguments.all else []:
        said = run(*words, path=config("mistake", **changes))
        found_it = re.search(wanted, said, re.DOTALL)
        print(f"{what:40}{'said' if found_it else 'NOT SAID'}")
        if not found_it:
            sys.exit(f"{what}: {said[-2000:]}")

    # Each once, by one console. That the receiver has an alert is on the topic soon after.
    time.sleep(5)
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
    say(f"{len(posts)} alerts, each once, at last by {poster}")

    # The other console continues, and posts nothing again.
    children[poster].kill()
    other = "console-2" if poster == "console-1" else "console-1"
    start("refunds", "millrace-refunds", path=plain)
    wait("the other console posts", lambda: "this process posts alerts" in log(other))
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
    say(f"kill -9 of {poster}: {other} continues, no alert is repeated, and the end of the killed worker is posted")

    if arguments.database:
        # PostgreSQL answers again, with a small disk. Then it is full, and rows have to be written. A writer that finds no
        # schema ends, so it starts again with one.
        children["postgres"].terminate()
        children["postgres"].wait()
        start_database()
        sql(f"CREATE TABLESPACE small LOCATION '{directory}/small'")
        sql("ALTER DATABASE postgres SET default_tablespace = small")
        print(run("postgres", "migrate", path=operator).strip().splitlines()[-1])
        start("postgres", "millrace-postgres", path=operator)
        ended = ("alert.resolved", "postgres", "postgres")
        wait("the end of the alert about PostgreSQL", lambda: ended in all_posts())
        sql("CREATE TABLE filler (text text)")
        sql("ALTER TABLE filler ALTER text SET STORAGE PLAIN")
        fill_disk()
        stage = Stage("disk")
        simulate("refunder", port, directory / "root.pem", "--rate", "600", "--seed", "2", "--chain", str(chain), count=60)
        stage.end()
        # Longer than the longest wait between two attempts: no attempt ends the alert.
        time.sleep(AFTER)
        if all_posts().count(ended) > 1:
            sys.exit("the alert about the full disk ended before the rows were written")
        sql("DROP TABLE filler")
        wait("the end of the alert about the full disk", lambda: all_posts().count(ended) == 2)
        wait("the rows that found no space", lambda: not unwritten(operator))
        say("a free disk: the writer continues without a restart, and its alert ends")

    # While Kafka is away, only that is posted.
    # Records of an open circuit move to retry topics, so the lag of these workers comes and goes. What is counted for 15
    # minutes can end meanwhile.
    def steady():
        counted = [("alert.resolved", kind) for kind in ("dead-letters", "quarantine", "unknown-type")]
        return [post for post in all_posts() if post[1] not in ("lag", "kafka") and post[:2] not in counted]

    def about_kafka():
        return [post[0] for post in all_posts() if post[1] == "kafka"]

    kafka = [str(root / "scripts" / "kafka")]
    for name, breaking, mending in (("paused", "pause", "resume"), ("stopped", "kill", "start")):
        if name == "stopped" and not arguments.all:
            break
        # That the receiver has the last alert is on the topic by then. Otherwise the next poster would have to repeat it.
        time.sleep(5)
        before, told_before = steady(), about_kafka()
        stage = Stage(name)
        subprocess.run([*kafka, breaking, str(directory / "kafka"), "1"], check=True)
        ask_again()
        stage.end()
        if arguments.database and '"check":"postgres","result":"good"' not in outputs["doctor"]:
            sys.exit(f"the doctor does not find PostgreSQL good while Kafka is {name}: {outputs['doctor'][-4000:]}")
        # Longer than the sessions: every worker loses its membership, and joins again.
        wait("the end of all sessions", lambda: time.monotonic() > stage.began + SESSION + 10)
        subprocess.run([*kafka, mending, str(directory / "kafka"), "1"], check=True)
        wait("status after the outage", lambda: '"conditions":' in outputs["status"])
        # What holds since Kafka answers again would be posted with this, and what begins soon after, a little later.
        wait("the end of the alert about Kafka", lambda: len(about_kafka()) > len(told_before) + 1)
        time.sleep(AFTER)
        if steady() != before:
            sys.exit(f"posted because Kafka was away: {steady()[len(before):]}")
        if about_kafka() != told_before + ["alert.firing", "alert.resolved"]:
            sys.exit(f"posted about Kafka: {about_kafka()[len(told_before):]}")
        say(f"Kafka {name} and back: one alert and its end, no other alert begins or ends")

    # A receiver that answers 410 is in the log, in status and in doctor, and gets the alert later.
    Answers.status = 410
    children["refunds"].terminate()
    wait("the log of the refused alert", lambda: "an alert could not be posted" in log(other))
    wait("status about the receiver", lambda: '"problem":"answered 410"' in outputs["status"])
    wait("doctor about the receiver",
         lambda: re.search(r'"of":"alerts.webhook","detail":"the process that posts alerts says: answered 410',
                           outputs["doctor"]))
    Answers.status = 204
    again = ("alert.firing", "worker-not-running", "refunds")
    wait("the delayed alert", lambda: collections.Counter(all_posts())[again] == 2)
    say("410 to an alert: in log, status and doctor; posted when the receiver answered again")

    # Without a console, nothing is posted, and status and doctor say so.
    children[other].send_signal(signal.SIGTERM)
    children[other].wait()
    wait("status without a poster", lambda: '"alerts":{}' in outputs["status"])
    wait("doctor without a poster", lambda: "no process posts alerts" in outputs["doctor"])
    say("no console: status and doctor say that no process posts alerts")


try:
    main()
finally:
    for child in children.values():
        if child.poll() is None:
            child.kill()
