"""Measures a console with many dead letters: the time to the first byte of its pages, and its peak memory.

The limit applies to the median. scripts/check console runs it with a debug build, which is slower than a release build."""

import re
import statistics
import sys
import time
import urllib.request

address, most_kilobytes, status = sys.argv[1], int(sys.argv[2]), sys.argv[3]
MOST_SECONDS = 0.1


def fetch(path):
    request = urllib.request.Request(address + path, headers={"X-Forwarded-User": "ada"})
    began = time.monotonic()
    with urllib.request.urlopen(request, timeout=30) as answer:
        first = time.monotonic() - began
        return answer.read().decode(), first


began = time.monotonic()
while "10\u202f000 found" not in fetch("/dead-letters?state=all")[0] or "Still reading" in fetch("/")[0]:
    if time.monotonic() - began > 60:
        sys.exit("volume: the console did not read 10 000 dead letters within a minute")
    time.sleep(0.2)
lanes = 0
while lanes < 40 and time.monotonic() - began < 60:
    lanes = len(re.findall(r'<tr><th scope="row" class="num">', fetch("/")[0]))
    time.sleep(0.2)
print(f"    the overview shows the lag of {lanes} lanes")
print(f"    the console read 10 000 dead letters in {time.monotonic() - began:.1f} s")
with urllib.request.urlopen(urllib.request.Request(address + "/", headers={"X-Forwarded-User": "ada"})) as answer:
    print(f"    the overview has {len(answer.read()) / 1024:.0f} KiB")

failed = False
for path in ["/", "/dead-letters", "/dead-letters?q=2000000000009999", "/dead-letters?q=nothing+like+it&state=all",
             "/dead-letters?from=9950"]:
    times = sorted(fetch(path)[1] for _ in range(20))
    median = statistics.median(times)
    failed |= median > MOST_SECONDS
    print(f"    {path:45} first byte: fastest {times[0] * 1000:.0f} ms, median {median * 1000:.0f} ms of 20 requests")
peak = int(re.search(r"VmHWM:\s*(\d+)", open(status).read())[1])
print(f"    peak memory: {peak / 1024:.0f} MiB")
sys.exit(failed or peak > most_kilobytes)
