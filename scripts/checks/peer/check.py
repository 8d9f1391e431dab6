"""Runs the simulator and tests it with Apple's Python library, in production and in the sandbox: everything it signs, every
endpoint of the library's client, and its errors.

usage: check.py SIMULATOR DIRECTORY
"""
import base64
import json
import pathlib
import signal
import socket
import subprocess
import sys
import urllib.request
import warnings

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.RealtimeUrlRequest import RealtimeUrlRequest

import endpoints
import refusals
from scenario import ALL_KINDS, KINDS, scenario, unknown_to_us
from side import Disagreement, Side, expect, serve, wait

# The simulator also has the deprecated version 1 consumption endpoint.
warnings.filterwarnings("ignore", category=DeprecationWarning)

SIGNED = ["signedPayload", "signedTransactionInfo", "signedRenewalInfo", "signedAppTransactionInfo"]
# Rules that the test breaks on purpose. Any other broken rule in the simulator's report is a finding.
ON_PURPOSE = {
    "invalidRequest", "tokenRefused", "limitExceeded", "consumptionWithoutConsent", "repeatedAfterFinalAnswer",
}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def outstanding(sides):
    return [f"{name} in {side.environment.value}" for side in sides for name in ALL_KINDS
            if len(side.received.get(name, ())) < 3]


def judge(sides):
    expect(not unknown_to_us(), f"the library has types or subtypes that scenario.py lacks: {unknown_to_us()}")
    try:
        wait("three notifications of every kind", lambda: any(side.failures for side in sides) or not outstanding(sides))
    except Disagreement as late:
        raise Disagreement(f"fewer than three notifications of {', '.join(outstanding(sides))}") from late
    expect(not any(side.failures for side in sides), "the library could not verify a notification")
    production, sandbox = sides
    production.refuse(403, 4030026, "configure_realtime_url", RealtimeUrlRequest("https://example.com"))
    # The sandbox first: its performance test opens production's real-time URL.
    for side in (sandbox, production):
        endpoints.complete_everything(side)
        refusals.expect_refusals(side)
        missing = endpoints.missing(side)
        expect(not missing, f"{side.environment.value}: methods of the client without a successful call: {missing}")
    wait("the delivery of all notifications", lambda: all_delivered(production))


def all_delivered(side):
    with urllib.request.urlopen(f"{side.url}/simulator/report") as answer:
        told = json.load(answer)["notifications"]
    return told["sent"] == told["acknowledged"]


def failures(sides, report):
    found = [failure for side in sides for failure in side.failures]
    told, received = report["notifications"], sum(len(all) for side in sides for all in side.received.values())
    if (told["acknowledged"], told["abandoned"]) != (received, 0):
        found.append(f"the library verified {received} notifications; the simulator reports {told}")
    found += [f"rule broken: {rule['rule']} {rule}" for rule in report["rulesBroken"] if rule["rule"] not in ON_PURPOSE]
    return found


def table(sides):
    row = "    {:<52}{:>12}{:>12}".format
    lines = [row("", *(side.environment.value for side in sides)), row("types and subtypes", *(
        f"{len([name for name in ALL_KINDS if side.received.get(name)])}/{len(ALL_KINDS)}" for side in sides))]
    lines.append(row("types", *(
        f"{len({name.partition('/')[0] for name in side.received})}/{len(KINDS)}" for side in sides)))
    lines += [row("verified: " + field, *(side.verified[field] for side in sides)) for field in SIGNED]
    for name in endpoints.methods_of_the_client():
        lines.append(row(name, *(side.completed[name] or "-" for side in sides)))
    lines.append(row("methods of the client", *(
        f"{len(side.completed)}/{len(side.completed) + len(endpoints.missing(side))}" for side in sides)))
    lines.append(row("errors, by code", *(len(side.refused) for side in sides)))
    return "\n".join(lines)


def main():
    simulator, directory = sys.argv[1], pathlib.Path(sys.argv[2])
    sides = [Side(Environment.PRODUCTION), Side(Environment.SANDBOX)]
    port = serve({side.environment.value: side for side in sides})
    file, root, key = directory / "scenario.yaml", directory / "root.pem", directory / "key.p8"
    file.write_text(scenario({side.environment.value: f"http://127.0.0.1:{port}/{side.environment.value}"
                              for side in sides}))
    ports = [free_port(), free_port()]
    with open(directory / "simulator.log", "w") as log:
        process = subprocess.Popen(
            [simulator, "run", str(file), "--port", str(ports[0]), "--sandbox-port", str(ports[1]), "--write-root",
             str(root), "--write-api-key", str(key), "--report", str(directory / "report.json")],
            stdout=subprocess.DEVNULL, stderr=log)
    problems = []
    try:
        wait("the simulator's root and key", lambda: process.poll() is not None or (
            root.exists() and key.exists() and "END CERTIFICATE" in root.read_text()))
        expect(process.poll() is None, (directory / "simulator.log").read_text())
        der = base64.b64decode("".join(line for line in root.read_text().splitlines() if "-----" not in line))
        for side, port in zip(sides, ports):
            side.connect(der, key.read_bytes(), port)
        judge(sides)
    except Disagreement as disagreement:
        problems.append(str(disagreement))
    finally:
        process.send_signal(signal.SIGINT)
        status = process.wait(120)
    try:
        wait("the verification of all notifications", lambda: all(side.is_idle() for side in sides))
    except Disagreement as late:
        problems.append(str(late))
    print(table(sides))
    if status != 0:
        problems.append(f"the simulator exited with status {status}")
    else:
        problems += failures(sides, json.loads((directory / "report.json").read_text()))
    if problems:
        sys.exit("check.py: " + "\n  ".join(problems[:10]))


if __name__ == "__main__":
    main()
