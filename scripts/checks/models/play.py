"""Runs a real Kafka behind the proxy for scripts/check models, and does what the schedules ask for.

millrace-simulate plays the schedules. It asks for something with a line `ask ...` on its standard output, and waits for a
line as the answer. Its other lines are results.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

PROXY = pathlib.Path(__file__).parents[2] / "scenarios/torn/delay.py"
SECONDS = 60


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=pathlib.Path, required=True, help="the directory of the cluster")
    parser.add_argument("--proxy", required=True, help="the path of kafka-delay")
    parser.add_argument("--directory", type=pathlib.Path, required=True)
    parser.add_argument("--kafka", required=True, help="the path of scripts/kafka")
    parser.add_argument("program", nargs="+")
    return parser.parse_args()


class Conductor:
    def __init__(self, options):
        self.options = options
        self.ports = (options.nodes / "ports").read_text().split()
        self.proxy = self.stopped = None
        self.switch, self.journal = options.directory / "switch", options.directory / "journal"

    @property
    def servers(self):
        return ",".join(f"127.0.0.2:{port}" for port in self.ports)

    def kafka(self, verb, *words):
        command = [self.options.kafka, verb, self.options.nodes, *words]
        return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout

    def play(self):
        command = [*self.options.program, "--kafka", self.servers]
        player = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            for line in player.stdout:
                verb, _, rest = line.rstrip("\n").partition(" ")
                if verb != "ask":
                    print(line, end="", flush=True)
                    continue
                name, _, rest = rest.partition(" ")
                player.stdin.write((getattr(self, f"do_{name}")(rest) or "") + "\n")
                player.stdin.flush()
            return player.wait()
        finally:
            player.kill()
            self.end_proxy()

    def end_proxy(self):
        if self.proxy:
            self.proxy.send_signal(signal.SIGCONT)
            self.proxy.kill()
            self.proxy.wait()

    # What schedules ask for

    def do_schedule(self, words):
        """Starts the proxy with the kind of request that the schedule holds."""
        self.end_proxy()
        kind, _, rest = words.partition(" ")
        release, _, name = rest.partition(" ") if kind != "none" else ("steps:1", "", rest)
        print(f"{name} ...", file=sys.stderr, flush=True)
        for file in (self.switch, self.journal):
            file.unlink(missing_ok=True)
        hold = ["--hold", f"{kind}=1"] if kind != "none" else []
        hold += [] if kind == "EndTxn" else ["--hold", "EndTxn=0"]
        ports = [word for port in self.ports for word in ("--map", port)]
        self.proxy = subprocess.Popen(
            [sys.executable, "-B", PROXY, self.options.proxy, *ports, *hold, "--release", release, "--most", "1", "--pause", "0",
             "--patience", "30", "--switch", self.switch, "--journal", self.journal],
            stdout=subprocess.PIPE, text=True)  # fmt: skip
        if self.proxy.stdout.readline() != "ready\n":
            raise SystemExit("the proxy did not start")

    def do_hold(self, _):
        self.switch.touch()

    def do_pass(self, _):
        self.switch.unlink(missing_ok=True)

    def do_arrival(self, _):
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            lines = self.journal.read_text().splitlines() if self.journal.exists() else []
            if lines:
                return json.loads(lines[0])["answer"]
            time.sleep(0.02)
        return "not within a minute"

    def do_silence(self, seconds):
        self.proxy.send_signal(signal.SIGSTOP)
        time.sleep(float(seconds))
        self.proxy.send_signal(signal.SIGCONT)

    def do_stop(self, words):
        """Stops the node that serves something, and waits until another one serves it."""
        kind, name = words.split(" ")
        self.stopped = self.place(kind, name)
        self.kafka("kill", self.stopped)
        until = time.monotonic() + SECONDS
        while self.place(kind, name) in (self.stopped, None) and time.monotonic() < until:
            time.sleep(0.1)

    def place(self, kind, name):
        if kind == "leader":
            leaders = [line.split() for line in self.kafka("leaders", name).splitlines()]
            return next((node for node, count in leaders if count != "0"), None)
        return self.kafka("coordinator", name, *(["--transactions"] if kind == "transactions" else [])).strip()

    def do_start(self, _):
        self.kafka("start", self.stopped)
        self.do_settle("")

    def do_settle(self, _):
        self.kafka("settled", "--everywhere")


def main():
    options = parsed()
    # The words after `--`.
    os.environ.setdefault("SWIFT_BACKTRACE", "enable=no")
    raise SystemExit(Conductor(options).play())


main()
