"""Runs the commands of docs/api.md against the simulator and compares their output with the page.

usage: check.py BIN DIRECTORY DOCUMENT [--write]

A block of commands opens with ```console; a command is a line after "$ ". A command must exit with 0, or with the status
that `echo $?` shows after it. Commands in a pipe print JSON, other commands print text as in a terminal. Times, and tokens
of test notifications, differ in each run and are masked.
"""
import difflib
import http.server
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

HERE = pathlib.Path(__file__).parent
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Text that differs in each run, and its replacement in the page.
VARYING = [
    (re.compile(r"2026-01-01T00:\d\d:\d\dZ"), "2026-01-01T00:00:00Z"),
    (re.compile(r"token [0-9a-f-]{36}_\d{13}"), "token ce3af791-365e-4c60-841b-1674b43c1609_1767225600000"),
]
STATUS = "echo $?"
MARK = "\x1e"


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200 if self.path == "/v2" else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait(what, condition, process, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if process.poll() is not None or time.monotonic() > end:
            raise SystemExit(f"no {what}; the log of the simulator:\n{(directory / 'simulator.log').read_text()}")
        time.sleep(0.05)


def accepts(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def has_begun(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/simulator/report") as answer:
        events = json.load(answer)["events"]
    return len(events) == 2 and all(event["done"] == event["wanted"] == 1 for event in events)


def start_simulator():
    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    scenario = (HERE / "scenario.yaml").read_text().replace("NOTIFICATIONS", str(receiver.server_port))
    (directory / "scenario.yaml").write_text(scenario)
    production, sandbox = free_port(), free_port()
    with open(directory / "simulator.log", "w") as log:
        process = subprocess.Popen(
            [binaries / "appstore-simulator", "run", "scenario.yaml", "--port", str(production), "--sandbox-port",
             str(sandbox), "--write-root", "root.pem", "--write-api-key", "key.p8", "--write-clock", "clock.yaml",
             "--report", "report.json"], cwd=directory, stdout=subprocess.DEVNULL, stderr=log)
    wait("API", lambda: accepts(production) and accepts(sandbox), process)
    wait("events at the start of the scenario", lambda: has_begun(production), process)
    (directory / "millrace.yaml").write_text((directory / "clock.yaml").read_text() + f"""\
trust: {{ roots: [root.pem] }}
apps:
  - bundleId: com.example.app
    appAppleId: 1234567890
    environments: [Production, Sandbox]
    api: {{ issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: SIMULATOR1, privateKeyFile: key.p8 }}
appStore: {{ productionURL: "http://127.0.0.1:{production}", sandboxURL: "http://127.0.0.1:{sandbox}" }}
""")
    return process


def mask(text):
    for pattern, fixed in VARYING:
        text = pattern.sub(fixed, text)
    return text


def run(commands):
    """The output and the exit status of each command of a block."""
    lines = ["set -o pipefail"]
    for command in commands:
        shown = command if "|" in command or not command.startswith("millrace api") else command + " --no-json"
        lines += [f"{shown}", f"status=$?; printf '{MARK}%s{MARK}' \"$status\"; (exit $status)"]
    environment = {"PATH": f"{binaries}:/usr/local/bin:/usr/bin:/bin", "MILLRACE_CONFIG": "millrace.yaml",
                   "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["bash", "-c", "exec 2>&1\n" + "\n".join(lines)], cwd=directory, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=120, check=False)
    parts = done.stdout.split(MARK)
    return list(zip(parts[0::2], map(int, parts[1::2])))


def transcript(block, problems):
    """The block with the actual output of its commands."""
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    results = run(commands)
    if len(results) != len(commands):
        problems.append(f"only {len(results)} of {len(commands)} commands ended: {commands}")
    text = ""
    for index, (command, (output, status)) in enumerate(zip(commands, results)):
        text += f"$ {command}\n{mask(output)}"
        shows_status = commands[index + 1:index + 2] == [STATUS]
        if status != 0 and not shows_status and command != STATUS:
            problems.append(f"$ {command}\nexits with {status}: {output}")
    return text


def subcommands():
    text = subprocess.run([binaries / "millrace", "api", "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    names = re.findall(r"^  ([a-z-]+)(?: {2}.*)?$", text.partition("SUBCOMMANDS:")[2], re.MULTILINE)
    if not names:
        raise SystemExit(f"no subcommands in:\n{text}")
    return names


def main():
    problems = []
    process = start_simulator()
    try:
        before = document.read_text()
        after = BLOCK.sub(lambda found: f"```console\n{transcript(found[1], problems)}```", before)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
    broken = json.loads((directory / "report.json").read_text())["rulesBroken"]
    problems += [f"rule broken: {rule['rule']} {rule}" for rule in broken]
    shown = re.findall(r"^\$ millrace api (\S+)", after, re.MULTILINE)
    problems += [f"the page does not show millrace api {name}" for name in subcommands() if name not in shown]
    if writes and not problems:
        document.write_text(after)
    elif after != before:
        problems += difflib.unified_diff(before.splitlines(), after.splitlines(), str(document), "actual output",
                                         lineterm="", n=1)
    if problems:
        print("\n".join(problems), file=sys.stderr)
        print("if the output is correct, run scripts/check api-docs --write", file=sys.stderr)
        raise SystemExit(1)
    print(f"the output of {len(shown)} commands agrees with {document.name}")


binaries, directory, document = (pathlib.Path(os.path.abspath(argument)) for argument in sys.argv[1:4])
writes = sys.argv[4:] == ["--write"]
main()
