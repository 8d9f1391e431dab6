"""Plays scripts/scenario torn: runs loads of crash and rehearse behind the proxy, and judges its journal, the logs of the
workers and the findings of the loads. See torn.sh.
"""

import argparse
import collections
import contextlib
import ctypes
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

# The requests that are held, by kind of run, and the share of them.
HOLDS = {
    "none": [],
    "EndTxn": ["EndTxn=0.6"],
    "all kinds": ["EndTxn=0.6", "Produce=0.2", "AddPartitionsToTxn=0.2", "AddOffsetsToTxn=0.2", "TxnOffsetCommit=0.2"],
    "Produce": ["Produce=0.6"],
    "InitProducerId": ["InitProducerId=1", "EndTxn=0.6"],
}
# Every third run holds all kinds.
CYCLE = ["EndTxn", "all kinds", "EndTxn"]
# Requests that show that a transaction has begun after the one whose EndTxn was held.
OF_A_TRANSACTION = {"AddPartitionsToTxn", "AddOffsetsToTxn", "Produce", "TxnOffsetCommit"}
REFUSALS = {"INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED"}
# More than usual, so that a transaction has records of several partitions, and more steps at which it can be torn.
LANES = 12
# The runs that may be played again, because the machine was too busy.
MOST_STARVED = 3
STEPS, MILLISECONDS = "steps:1-8", "ms:0-1000"
# The rounds of the loads. A start takes most of a brief run.
BRIEF, LONG = {"rolling": 2, "kill": 2}, {"rolling": 16, "kill": 14}
# The runs of --held, again and again.
SERIES = [
    ("EndTxn", STEPS, ("rolling", "kill")),
    ("all kinds", STEPS, ("rolling", "kill", "rehearse")),
    ("EndTxn", MILLISECONDS, ("rolling", "kill")),
    ("Produce", STEPS, ("rolling", "rehearse")),
    ("all kinds", MILLISECONDS, ("rolling", "kill")),
    ("InitProducerId", STEPS, ("kill",)),
]

# The lines of a worker's log that count.
REPLACED = "replaced the client of the transactional producer"
REJOINED = "the transactional producer was lost"
# The producer in the log line of a rejoin, and the line of a coordinator that has aborted its transaction.
LOST_PRODUCER = re.compile(r"the transaction of ([^\s:]+)")
TIMED_OUT = re.compile(r"rollback of ongoing transaction for transactionalId (\S+) due to timeout")
# The line of a coordinator that has not heard from a member for its session.
SILENT = re.compile(r"rebalance group (\S+) .*on heartbeat expiration")
# The traces of a torn transaction.
TORN = re.compile(
    r": 0 events.*says done|\b0 of its timer; the ledger says done$|no retry topic|: [2-9] events|[2-9] of its timer"
    r"|has \d+ events, from|fired \d+ times|published \d+ times|missing: .*says done"
)
RULE_OFF = "CRASH_IGNORE_UNANSWERED"


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--held", type=int, help="go on until so many requests were held with these versions")
    parser.add_argument("--most", type=int, help="the number of runs after which to end, with --held")
    parser.add_argument("--kind", choices=HOLDS)
    parser.add_argument("--loads", type=lambda text: text.split(","))
    parser.add_argument("--control", action="store_true")
    parser.add_argument("--sum", action="store_true", help="only print the results file")
    parser.add_argument("--results", type=pathlib.Path, required=True)
    parser.add_argument("--directory", type=pathlib.Path)
    parser.add_argument("--programs", type=pathlib.Path)
    parser.add_argument("--topics")
    parser.add_argument("--proxy", help="the path of kafka-delay")
    parser.add_argument("--nodes", type=pathlib.Path, help="the directory of the cluster")
    return parser.parse_args()


def librdkafka():
    library = ctypes.CDLL("librdkafka.so.1")
    library.rd_kafka_version_str.restype = ctypes.c_char_p
    return library.rd_kafka_version_str().decode()


def kafka_version(nodes):
    found = re.search(r"Kafka version: (\S+)", (nodes / "node1.log").read_text())
    return found[1] if found else "unknown"


class Children:
    """Processes that end with this one."""

    def __init__(self):
        self.running = []
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: sys.exit(143))

    def start(self, command, output, **environment):
        with open(output, "wb") as file:
            process = subprocess.Popen(
                [str(word) for word in command], stdout=file, stderr=file, env=os.environ | environment
            )
        self.running.append(process)
        return process

    def end(self, process, seconds=30):
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        process.kill()
        self.running.remove(process)

    def end_all(self):
        for process in list(self.running):
            self.end(process)


class Run:
    """One start of the proxy with a seed, and the loads behind it."""

    def __init__(self, scenario, seed, kind, release=STEPS, loads=("rolling", "kill"), has_rule=True, limit=900,
                 rounds=LONG):
        self.scenario, self.seed, self.kind, self.release = scenario, seed, kind, release
        self.loads, self.has_rule, self.limit = loads, has_rule, limit
        self.directory = scenario.options.directory / f"{seed}-{kind.replace(' ', '-')}{'' if has_rule else '-control'}"
        self.findings, self.torn = [], False
        self.rounds = rounds

    def command(self, load):
        options = self.scenario.options
        program = options.programs / "millrace-scenarios"
        words = {
            "rehearse": ["rehearse", "--size", 100, "--refunds", 60, "--workers", 2, "--no-replay"],
        }.get(load) or ["crash", load, "--rounds", self.rounds.get(load, 3), "--lanes", LANES]
        return [
            program, *words, "--seed", self.seed, "--limit", self.limit, "--programs", options.programs,
            "--topics", options.topics, "--directory", self.directory / load, "--bootstrap-servers", self.scenario.servers,
        ]  # fmt: skip

    def play(self):
        self.directory.mkdir()
        began = time.monotonic()
        proxy = self.start_proxy()
        children = self.scenario.children
        rule = {} if self.has_rule else {RULE_OFF: "1"}
        loads = {load: children.start(self.command(load), self.output(load), **rule) for load in self.loads}
        for load, process in loads.items():
            status = process.wait()
            children.running.remove(process)
            if status:
                self.take_findings(load, status)
            self.take_calls(load)
        children.end(proxy)
        self.seconds = round(time.monotonic() - began)
        self.take_journal()
        self.take_logs()

    def output(self, name):
        return self.directory / f"{name}.out"

    def start_proxy(self):
        holds = [word for hold in HOLDS[self.kind] for word in ("--hold", hold)]
        # Without an option the proxy holds some EndTxn.
        holds += [] if any("EndTxn" in hold for hold in holds) else ["--hold", "EndTxn=0"]
        ports = [word for port in self.scenario.ports for word in ("--map", port)]
        script = pathlib.Path(__file__).with_name("delay.py")
        proxy = self.scenario.children.start(
            [sys.executable, script, self.scenario.options.proxy, *ports, "--seed", self.seed, *holds, "--release",
             self.release, "--pause", "1", "--journal", self.directory / "journal"], self.output("proxy"))  # fmt: skip
        until = time.monotonic() + 20
        while "ready" not in self.output("proxy").read_text():
            if proxy.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"the proxy did not start: {self.output('proxy').read_text()}")
            time.sleep(0.05)
        return proxy

    # What the run has left behind

    def take_findings(self, load, status):
        lines = self.output(load).read_text().splitlines()
        found = [
            line.strip() for number, line in enumerate(lines)
            if any(mark in before for before in lines[: number + 1] for mark in ("NOT AS PROMISED", "Error: ", "✗"))
        ]  # fmt: skip
        self.findings += [f"{load}: {line}" for line in found] or [f"{load} ended with status {status}"]
        self.torn = self.torn or any(TORN.search(line) for line in found)

    def take_calls(self, load):
        self.repeated = getattr(self, "repeated", 0)
        if found := re.search(r"(\d+) effects by (\d+) calls", self.output(load).read_text()):
            self.repeated += int(found[2]) - int(found[1])

    def take_journal(self):
        journal = self.directory / "journal"
        lines = [json.loads(line) for line in journal.read_text().splitlines()]
        self.held = collections.Counter(line["request"].partition(":")[0] for line in lines)
        late = [
            line for line in lines if line["request"].startswith("EndTxn") and OF_A_TRANSACTION.intersection(line["after"])
        ]
        self.late = collections.Counter(str(line["answer"]) for line in late)
        try:
            self.requests = json.loads(self.output("proxy").read_text().splitlines()[-1])["requests"]
        except (ValueError, KeyError):
            self.requests = {}

    def take_logs(self):
        logs = [path.read_text(errors="replace") for path in self.directory.glob("*/*/*.log")]
        self.replacements = sum(log.count(REPLACED) for log in logs)
        lost = [line for log in logs for line in log.splitlines() if REJOINED in line]
        self.rejoins = len(lost)
        producers = {found[1] for found in map(LOST_PRODUCER.search, lost) if found}
        timed_out = producers.intersection(self.scenario.names(TIMED_OUT))
        # A late AddPartitionsToTxn could have opened the transaction that timed out.
        self.is_starved = bool(timed_out) and not self.held["AddPartitionsToTxn"]
        # Nobody kills the processes of a rolling restart, so all of them have sent heartbeats.
        restarted = {path.name for path in self.directory.glob("rolling/*")}
        silent = [name for name in self.scenario.names(SILENT) if any(f"-{each}-" in name for each in restarted)]
        self.is_starved |= len(silent) > self.scenario.silent
        self.scenario.silent = len(silent)

    # Results

    @property
    def result(self):
        return {
            "seed": self.seed, "kind": self.kind, "release": self.release, "rule": self.has_rule, "loads": self.loads,
            "held": dict(self.held), "requests": self.requests, "late": dict(self.late), "replacements": self.replacements,
            "rejoins": self.rejoins, "repeated": self.repeated, "findings": self.findings,
            "torn": self.torn,
            "seconds": self.seconds,
        }  # fmt: skip


class Sums:
    """The sums of some results."""

    def __init__(self, results):
        self.runs = len(results)
        self.held = sum(sum(each["held"].values()) for each in results)
        self.of_end = sum(each["held"].get("EndTxn", 0) for each in results)
        self.ends = sum(count for each in results for name, count in each["requests"].items() if name.startswith("EndTxn"))
        self.late = sum((collections.Counter(each["late"]) for each in results), collections.Counter())
        self.replacements = sum(each["replacements"] for each in results)
        self.rejoins = sum(each["rejoins"] for each in results)
        self.repeated = sum(each["repeated"] for each in results)
        self.failed = sum(1 for each in results if each["findings"])
        self.findings = [finding for each in results for finding in each["findings"]]
        self.by_steps = sum(sum(each["held"].values()) for each in results if each["release"].startswith("steps"))
        self.seconds = sum(each["seconds"] for each in results)

    @property
    def not_refused(self):
        return sum(count for answer, count in self.late.items() if answer not in REFUSALS)

    @property
    def line(self):
        answers = ", ".join(f"{count} {answer}" for answer, count in self.late.most_common()) or "none"
        return (
            f"{self.held} held ({self.of_end} of {self.ends} EndTxn), late EndTxn: {answers}; "
            f"{self.replacements} replacements, {self.rejoins} rejoins, findings in {self.failed} of {self.runs} runs, "
            f"{self.seconds} s"
        )


def print_pairs(results):
    """Prints a line for each pair of versions, of the newest programs."""
    if not results:
        return print("    no results")
    newest = results[-1]["programs"]
    pairs = collections.defaultdict(list)
    for each in results:
        if each["programs"] == newest:
            pairs[f"Kafka {each['kafka']}, librdkafka {each['librdkafka']}", each["rule"]].append(each)
    for (pair, has_rule), some in sorted(pairs.items()):
        print(f"    {pair}{'' if has_rule else ', without the rule'}: {Sums(some).line}")
    ruled = [each for each in results if each["programs"] == newest and each["rule"]]
    print(f"    in all {Sums(ruled).held} held, {Sums(ruled).by_steps} of them released after steps")


class Scenario:
    def __init__(self, options):
        self.options, self.children = options, Children()
        self.ports = (options.nodes / "ports").read_text().split()
        self.servers = ",".join(f"127.0.0.2:{port}" for port in self.ports)
        program = (options.programs / "millrace-scenarios").read_bytes()
        self.version = {
            "kafka": kafka_version(options.nodes), "librdkafka": librdkafka(),
            "programs": hashlib.sha256(program).hexdigest()[:12],
        }  # fmt: skip
        self.faults, self.starved, self.silent = [], 0, 0
        print(f"    Kafka {self.version['kafka']}, librdkafka {self.version['librdkafka']}", flush=True)

    def play(self, seed, kind, **rest):
        run = Run(self, seed, kind, **rest)
        run.play()
        result = self.version | run.result
        if run.has_rule and run.is_starved and (run.findings or run.rejoins):
            # Not a result: on a machine that needs ten seconds for a transaction, or sends no heartbeat for six, workers
            # also rejoin and call again without a proxy.
            self.starved += 1
            print(f"    seed {seed}, {kind}: the machine was too busy for a transaction or heartbeats; playing again", flush=True)
            if self.starved > MOST_STARVED:
                raise SystemExit(f"the machine was too busy in {self.starved} runs")
            shutil.rmtree(run.directory)
            return self.play(seed, kind, **rest)
        with open(self.options.results, "a") as file:
            print(json.dumps(result), file=file)
        rule = "" if run.has_rule else ", without the rule"
        print(f"    seed {seed}, {kind} at {run.release}{rule}: {Sums([result]).line}", flush=True)
        if not run.findings and not run.rejoins:
            shutil.rmtree(run.directory)
        return result

    def names(self, pattern):
        """The names in those lines of the nodes' logs that match a pattern."""
        logs = (path.read_text(errors="replace") for path in self.options.nodes.glob("node*.log"))
        return [name for log in logs for name in pattern.findall(log)]

    def check(self, is_true, sentence):
        if not is_true:
            self.faults.append(sentence)

    def judge(self, results):
        """Judges runs with the rule, other than those that hold InitProducerId."""
        sums = Sums(results)
        self.check(not sums.not_refused, f"{sums.not_refused} late EndTxn were not refused: {dict(sums.late)}")
        self.check(
            sums.replacements >= 0.9 * sums.held, f"only {sums.replacements} replacements for {sums.held} held requests"
        )
        # Without faults there are none; see the runs of the kind `none`.
        self.check(not sums.rejoins, f"{sums.rejoins} rejoins; without faults there are none")
        self.findings_of(results)

    def findings_of(self, results):
        for each in results:
            for finding in each["findings"][:10]:
                self.faults.append(f"seed {each['seed']}, {each['kind']}: {finding}")

    def judge_produce(self, result):
        self.check(not result["repeated"], f"{result['repeated']} calls were repeated although only Produce was delayed")

    def known(self):
        """The earlier results with these versions and programs."""
        if not self.options.results.exists():
            return []
        every = [json.loads(line) for line in self.options.results.read_text().splitlines()]
        return [each for each in every if all(each.get(key) == value for key, value in self.version.items())]

    # What is played

    def gate(self):
        seed, results = self.options.seed, []
        while not results or Sums(results).held < 100 or sum(Sums(results).late.values()) < 30:
            number = len(results)
            if number == 9:
                self.check(False, "nine runs held too few requests")
                break
            results.append(self.play(seed + number, CYCLE[number % 3], limit=400, rounds=BRIEF))
        self.judge(results)
        print(f"    with the rule: {Sums(results).line}")
        self.control(seed)

    def judge_init(self, result):
        """A late InitProducerId fences a producer at any moment, also in its commit: then the worker rejoins."""
        self.check(result["held"].get("InitProducerId"), "no InitProducerId was held")
        self.findings_of([result])
        self.check(not Sums([result]).not_refused, f"late EndTxn were not refused: {result['late']}")

    def control(self, seed):
        """Without the rule there must be a finding within 100 held requests."""
        held = 0
        while held < 100:
            loads = self.options.loads or ("rolling",)
            result = self.play(seed, "EndTxn", loads=loads, has_rule=False, limit=60, rounds=BRIEF)
            held, seed = held + Sums([result]).held, seed + 1
            if result["torn"]:
                found = next(line for line in result["findings"] if TORN.search(line))
                print(f"    without the rule: a finding within {held} held requests: {found}")
                return
            if not result["held"]:
                self.check(False, "the control held no request")
                return self.findings_of([result])
        self.check(False, f"without the rule there is no finding within {held} held requests")

    def until(self, count):
        """Plays runs until so many requests were held with these versions, or --most runs were played."""
        played = 0
        while True:
            known = [each for each in self.known() if each["rule"]]
            held, number = Sums(known).held, len(known)
            if held >= count or played == self.options.most or self.faults:
                break
            seed = self.options.seed + number
            if number == 0:
                result = self.play(seed, "none", rounds=BRIEF)
                self.check(not result["rejoins"], f"{result['rejoins']} rejoins without faults")
                self.findings_of([result])
            else:
                kind, release, loads = SERIES[(number - 1) % len(SERIES)]
                result = self.play(seed, kind, release=release, loads=loads, rounds=LONG)
                if kind == "InitProducerId":
                    self.judge_init(result)
                else:
                    self.judge([result])
                if kind == "Produce":
                    self.judge_produce(result)
            played += 1
        if not any(not each["rule"] for each in self.known()):
            self.control(self.options.seed)
        print(f"    these versions: {Sums([each for each in self.known() if each['rule']]).line}")


def main():
    options = parsed()
    if options.sum:
        lines = options.results.read_text().splitlines() if options.results.exists() else []
        return print_pairs([json.loads(line) for line in lines])
    scenario = Scenario(options)
    try:
        if options.control:
            scenario.control(options.seed)
        elif options.kind:
            result = scenario.play(options.seed, options.kind, loads=options.loads or ("rolling", "kill"))
            scenario.findings_of([result])
        elif options.held:
            scenario.until(options.held)
        else:
            scenario.gate()
    finally:
        scenario.children.end_all()
    for fault in scenario.faults:
        print(f"    ✗ {fault}")
    if scenario.faults:
        sys.exit(1)


main()
