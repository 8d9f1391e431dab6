"""Sends 120 hostile requests at once to a console, three times, and measures its memory and the time of other pages.

The requests have unknown ids, ids of 1 MB, huge limits and foreign forms. Some clients never read their response, and some
leave at once. Another process measures the other pages, so that the times are those of the console and not of the attacking
threads. Other programs use the machine as well, so no time decides the result. But every other page must be answered."""

import json
import re
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

address, admin, status, known, most_kilobytes = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5])
host, port = re.match(r"http://(.+):(\d+)", address).groups()
ROUNDS, REQUESTS, SECONDS = 3, 120, 15
OWN = "x-forwarded-user: mallory\r\nsec-fetch-site: same-origin\r\n"
HUGE = "9" * 18


def peak():
    return int(re.search(r"VmHWM:\s*(\d+)", open(status).read())[1])


def get(path, fields=OWN):
    return f"GET {path} HTTP/1.1\r\nhost: {host}:{port}\r\n{fields}\r\n".encode()


def form(path, size, fields):
    body = b"item=" + b"x" * size
    head = f"POST {path} HTTP/1.1\r\nhost: {host}:{port}\r\n{fields}content-type: application/x-www-form-urlencoded\r\n"
    return head.encode() + f"content-length: {len(body)}\r\n\r\n".encode() + body


# The bytes to send, and how the client goes on: it reads everything, nothing, or leaves at once.
KINDS = [
    (lambda n: get(f"/timeline?id={known}&days={HUGE}"), "read"),
    (lambda n: get(f"/timeline?id={known}&days={HUGE}"), "stay"),
    (lambda n: get(f"/timeline?id={known}&days={HUGE}"), "leave"),
    (lambda n: get(f"/timeline?id=999{n:013}&days={HUGE}"), "read"),
    (lambda n: get(f"/timeline?id=00000000-0000-4000-8000-{n:012}&days={HUGE}"), "leave"),
    (lambda n: get(f"/timeline?id={'1' * (1 << 20)}"), "read"),
    (lambda n: get(f"/timeline?id={'1' * 15000}"), "read"),
    (lambda n: get(f"/dead-letters/refunds/0/{n}"), "read"),
    (lambda n: get(f"/dead-letters/refunds/0/{n}"), "leave"),
    (lambda n: get(f"/dead-letters/refunds/2147483647/{HUGE}"), "read"),
    (lambda n: get(f"/dead-letters?state=all&from={HUGE}&q={'%25' * 4000}"), "read"),
    (lambda n: get("/dead-letters?state=all") * 50, "stay"),
    (lambda n: get("/dead-letters/decide?do=requeue&all=1"), "read"),
    (lambda n: get("/live"), "stay"),
    (lambda n: form("/dead-letters/requeue", 250_000, OWN), "read"),
    (lambda n: form("/dead-letters/requeue", 250_000, "x-forwarded-user: mallory\r\norigin: https://evil.example\r\n"), "read"),
    (lambda n: get(f"/timeline?id={known}", "x-forwarded-user: mallory\r\nsec-fetch-site: cross-site\r\n"), "read"),
    (lambda n: b"GET /timeline?id=" + b"1" * 100, "stay"),
]

answers, lock = {}, threading.Lock()


def note(answer):
    with lock:
        answers[answer] = answers.get(answer, 0) + 1


def attack(number, start, end):
    make, behaviour = KINDS[number % len(KINDS)]
    sent = make(number)
    with socket.socket() as client:
        if behaviour == "stay":
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(SECONDS)
        start.wait()
        received = b""
        try:
            client.connect((host, int(port)))
            client.sendall(sent)
            if behaviour == "leave":
                return note("left")
            if behaviour == "stay":
                end.wait()
                return note("stayed")
            while part := client.recv(1 << 16):
                received = received or part[:12]
                if end.is_set():
                    break
        except OSError:
            # The console closes the connection of an oversize head.
            received = received or b"closed"
        note(received.decode(errors="replace").removeprefix("HTTP/1.1 ") or "closed")


def attack_once():
    """Sends the requests, ends after some seconds, and prints the number of answers."""
    start, end = threading.Barrier(REQUESTS + 1), threading.Event()
    clients = [threading.Thread(target=attack, args=(number, start, end)) for number in range(REQUESTS)]
    for thread in clients:
        thread.start()
    start.wait()
    time.sleep(SECONDS)
    end.set()
    for thread in clients:
        thread.join()
    print(json.dumps(answers))


def watch(name, url, end, times, failures):
    while not end.is_set():
        began = time.monotonic()
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers={"X-Forwarded-User": "ada"}), timeout=30) as answer:
                answer.read()
            times.setdefault(name, []).append(time.monotonic() - began)
        except urllib.error.HTTPError as error:
            # A console whose last answer of Kafka is more than five seconds old is not ready.
            if name != "/readyz":
                failures.append(f"{name}: {error}")
            times.setdefault(f"{name}, {error.code}", []).append(time.monotonic() - began)
        except OSError as error:
            failures.append(f"{name}: {error}")
        end.wait(0.05)


if sys.argv[6:] == ["attack"]:
    attack_once()
    sys.exit()
end = time.monotonic() + 120
while True:
    try:
        if "Still reading" not in urllib.request.urlopen(
                urllib.request.Request(address + "/", headers={"X-Forwarded-User": "ada"}), timeout=30).read().decode():
            urllib.request.urlopen(admin + "/readyz", timeout=30)
            break
    except urllib.error.HTTPError:
        pass
    if time.monotonic() > end:
        sys.exit("hostile: the console was not ready in two minutes")
    time.sleep(0.2)
before = peak()
times, failures = {}, []
for turn in range(ROUNDS):
    attacker = subprocess.Popen([sys.executable, *sys.argv, "attack"], stdout=subprocess.PIPE)
    end = threading.Event()
    pages = {"/": address + "/", "/dead-letters": address + "/dead-letters", "/livez": admin + "/livez",
             "/readyz": admin + "/readyz"}
    watchers = [threading.Thread(target=watch, args=(name, url, end, times, failures)) for name, url in pages.items()]
    for thread in watchers:
        thread.start()
    answered = json.loads(attacker.communicate(timeout=10 * SECONDS)[0])
    end.set()
    for thread in watchers:
        thread.join()
    for answer, count in answered.items():
        answers[answer] = answers.get(answer, 0) + count

print(f"    {ROUNDS} times {REQUESTS} hostile requests: " + ", ".join(f"{count} {name}" for name, count in sorted(answers.items())))
for name, all_times in sorted(times.items()):
    all_times.sort()
    median, p99, most = statistics.median(all_times), all_times[-1 - len(all_times) // 100], all_times[-1]
    print(f"    {name:14} {len(all_times):4} requests meanwhile: median {median * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms, "
          f"most {most * 1000:.0f} ms")
print(f"    peak memory: {before / 1024:.0f} MiB before, {peak() / 1024:.0f} MiB after; allowed are {most_kilobytes / 1024:.0f} MiB")
for failure in failures[:10]:
    print(f"    not answered: {failure}")
# Every place is free again: a page that reads topics is answered.
with urllib.request.urlopen(
        urllib.request.Request(address + "/dead-letters/refunds/0/0", headers={"X-Forwarded-User": "ada"}), timeout=60) as answer:
    print(f"    afterwards a dead letter is read from Kafka: {answer.status}")
sys.exit(bool(failures) or peak() > most_kilobytes or len(times) < 4)
