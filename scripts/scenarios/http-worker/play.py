"""Plays scripts/scenario http-worker: starts the endpoint and two processes of millrace-worker, kills them, and compares
Kafka with the model.

The environment names the programs, the topics and the files; see http-worker.sh.
"""

import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import records
from model import Model

SESSION = 6  # seconds; http-worker.sh sets it
SETTLE_SECONDS = 240
# The reason of a dead letter that was running at the last two of three kills or more.
BLAMED = "crashed-the-process"


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--directory", type=pathlib.Path, required=True)
    parser.add_argument("--millrace", required=True, help="the program")
    parser.add_argument("--worker", required=True, help="the program")
    parser.add_argument("--endpoint-port", type=int, required=True)
    parser.add_argument("--store", required=True, help="the URL of the fake App Store")
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--kafka", required=True, help="scripts/kafka")
    parser.add_argument("--nodes", required=True, help="the directory of its nodes")
    return parser.parse_args()


def key_of(letter):
    """The key of a dead letter."""
    return letter["ce_subject"] if "ce_subject" in letter else letter["millrace-timer"].split("/")[1]


class Process:
    """A program that is killed and started again."""

    def __init__(self, name, command, directory, environment=None):
        self.name, self.command, self.directory = name, command, directory
        self.environment = os.environ | (environment or {})
        self.starts = self.kills = 0
        self.start()

    def start(self):
        self.starts += 1
        with open(self.directory / f"{self.name}-{self.starts}.log", "wb") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log, env=self.environment)

    def kill(self):
        status = self.process.poll()
        if status is not None:
            raise SystemExit(f"{self.name}-{self.starts} ended by itself with status {status}")
        self.process.kill()
        self.process.wait()
        self.kills += 1

    def signal(self, number):
        self.process.send_signal(number)

    def end(self, seconds=60):
        """Stops the process in order, and returns its status."""
        self.process.terminate()
        return self.process.wait(seconds)


class Scenario:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.journal = options.directory / "journal"
        self.hold = options.directory / "hold"
        self.endpoint = Process(
            "endpoint",
            [".venv/bin/uvicorn", "endpoint:app", "--port", str(options.endpoint_port), "--no-access-log"],
            options.directory,
            {"JOURNAL": str(self.journal), "HOLD": str(self.hold)},
        )
        self.workers = [
            Process(f"worker-{number}", [options.worker], options.directory, {"MILLRACE_ADMIN_PORT": "0"})
            for number in (1, 2)
        ]
        self.brokers = self.pauses = self.requeued = 0

    # Load

    def happen(self, what, count, **fields):
        body = json.dumps({"do": what, "count": count, **fields}).encode()
        with urllib.request.urlopen(f"{self.options.store}/simulator/events", body, timeout=30) as answer:
            answer.read()

    def load(self):
        self.happen("expire", 6, reason="cancelled")
        self.happen("resubscribe", 4)
        self.happen("cancel", 5)
        self.happen("resume", 5)
        self.happen("purchase", 4, product="com.example.app.yearly")

    def wait(self, most):
        time.sleep(self.random.uniform(0, most))

    # Faults

    def kill(self, number):
        """Kills a worker and the endpoint, at random moments of the load."""
        self.load()
        self.wait(1.5)
        worker = self.workers[number % 2]
        worker.kill()
        self.wait(0.5)
        worker.start()
        self.wait(2)
        self.endpoint.kill()
        self.wait(1.5)
        self.endpoint.start()
        self.wait(4)

    def pause(self, number):
        """Pauses a worker with requests in flight until the other has its lanes, and resumes it."""
        time.sleep(SESSION + 2)
        self.hold.touch()
        self.load()
        time.sleep(2)
        worker = self.workers[number % 2]
        worker.signal(signal.SIGSTOP)
        self.hold.unlink()
        self.load()
        # Beyond the session, and the longest transaction.
        time.sleep(3 * SESSION)
        worker.signal(signal.SIGCONT)
        self.load()
        time.sleep(2)
        self.pauses += 1

    def break_node(self):
        """Kills the node that leads most partitions, under load, and starts it again."""
        script, directory = self.options.kafka, self.options.nodes

        def kafka(*words):
            result = subprocess.run([script, *words], capture_output=True, text=True, timeout=180)
            if result.returncode:
                sys.exit(f"kafka {' '.join(words)} failed: {result.stderr}")
            return result.stdout

        leaders = [line.split() for line in kafka("leaders", directory, "").splitlines()]
        node = max(leaders, key=lambda words: int(words[1]))[0]
        self.load()
        kafka("kill", directory, node)
        self.load()
        time.sleep(5)
        self.load()
        kafka("start", directory, node)
        kafka("settled", directory)
        self.brokers += 1

    def play(self):
        self.happen("purchase", 60, product="com.example.app.yearly")
        time.sleep(SESSION)
        for number in range(1, self.options.rounds + 1):
            self.kill(number)
            # In the first rounds, and then every ten rounds.
            if number % 10 == 2:
                self.pause(number)
            if number % 10 == 4:
                self.break_node()

    # The end

    def requests(self):
        return [json.loads(line) for line in self.journal.read_text().splitlines()]

    def read(self):
        bootstrap = self.options.bootstrap
        self.model = Model(records.notifications(bootstrap, "appstore.notifications.subscriptions"))
        self.events = list(records.events(bootstrap, "appstore.events.tally"))
        letters = records.records(bootstrap, "millrace.tally.dead-letters")
        self.letters = [headers for headers, *_ in letters if "millrace-reason" in headers]
        self.states, self.timers = records.ledger(bootstrap, "millrace.tally.ledger")

    def differences(self):
        found = [f"a dead letter: {letter}" for letter in self.letters if letter["millrace-reason"] != BLAMED]
        requeued = {key_of(letter) for letter in self.letters}
        return found + self.model.differences(self.events, self.states, self.timers, self.requests(), requeued)

    def requeue(self):
        """Requeues what was running at the last two kills, as docs/runbook.md says. Returns whether there was any."""
        if len(self.letters) == self.requeued:
            return False
        command = [self.options.millrace, "dead-letters", "requeue", "--worker", "tally", "--reason", BLAMED]
        subprocess.run([*command, "--why", "killed by scripts/scenario http-worker"], check=True, capture_output=True)
        self.requeued = len(self.letters)
        return True

    def settle(self):
        """Waits until nothing changes any more: longer if there is a difference."""
        until = time.monotonic() + SETTLE_SECONDS
        before, quiet = None, 0
        while time.monotonic() < until:
            self.read()
            now = (len(self.events), len(self.requests()))
            quiet = quiet + 1 if now == before and not self.requeue() else 0
            before = now
            if quiet >= (15 if self.differences() else 5):
                return
            time.sleep(1)

    def print_figures(self, found):
        requests = self.requests()
        ids = {entry["id"] for entry in requests}
        killed = sum(worker.kills for worker in self.workers)
        with urllib.request.urlopen(f"{self.options.store}/simulator/report", timeout=30) as answer:
            asked = {each["endpoint"]: each["count"] for each in json.loads(answer.read())["asked"]}
        print(
            f"    {self.options.rounds} rounds: {killed} workers and {self.endpoint.kills} endpoints killed, "
            f"{self.pauses} workers paused, {self.brokers} brokers killed"
        )
        print(
            f"    {self.model.notifications} notifications, {len(requests)} requests, "
            f"{len(requests) - len(ids)} of them repeated, {asked.get('getAllSubscriptionStatuses', 0)} calls to Apple"
        )
        aborted = records.aborted(self.options.bootstrap, "appstore.events.tally")
        print(
            f"    {len(self.events)} events ({self.model.events} expected), {aborted} more in aborted transactions, "
            f"{len(self.states)} states, {len(self.timers)} timers, {self.requeued} dead letters requeued, "
            f"{len(found)} differences",
            flush=True,
        )


def main():
    scenario = Scenario(parsed())
    try:
        scenario.play()
        scenario.settle()
        found = []
        for worker in scenario.workers:
            if status := worker.end():
                found.append(f"{worker.name}-{worker.starts} left with status {status} after SIGTERM")
        scenario.read()
        found += scenario.differences()
        scenario.print_figures(found)
    finally:
        for process in [*scenario.workers, scenario.endpoint]:
            if process.process.poll() is None:
                process.signal(signal.SIGCONT)
                process.process.kill()
    for difference in found[:20]:
        print(f"    {difference}", file=sys.stderr)
    if not scenario.model.offers or not scenario.timers:
        found.append("no offer was due, or no reminder is left: the run is too short")
    if found:
        sys.exit(f"{len(found)} differences")


if __name__ == "__main__":
    main()
