"""Waits until a simulator has caused every event of its scenario and has an answer to every notification.

await_answers.py URL PID: the simulator's report, and the process; if it ends, the wait fails.
"""

import json
import os
import sys
import time
import urllib.request

url, process = sys.argv[1], int(sys.argv[2])
# A notification that was just created is not in the report yet, so a report must repeat.
before = None
while True:
    os.kill(process, 0)
    time.sleep(0.5)
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            report = json.load(answer)
    except OSError:
        # The simulator does not listen yet.
        continue
    problems = [event for event in report["events"] if "problem" in event]
    if problems:
        sys.exit(f"the simulator could not cause {problems}")
    notifications = report["notifications"]
    happened = all(event["done"] >= event["wanted"] for event in report["events"])
    if happened and notifications["waiting"] == 0 and notifications == before:
        break
    before = notifications
