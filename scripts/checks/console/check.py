"""Tests the console in a browser: every page and every action, by mouse and by keyboard, with screenshots."""

import collections
import html
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from accessibility import focus_problems, problems
from browser import Browser

# The webhook posts to the port. The last arguments are the command that runs it.
address, shots, cluster, port, webhook = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:]
USER = "ada@example.com"
found = []
os.makedirs(shots, exist_ok=True)


def expect(holds, words):
    if not holds:
        found.append(words)


def fetch(path, headers=None, form=None):
    request = urllib.request.Request(
        address + path, headers=headers or {}, data=urllib.parse.urlencode(form).encode() if form else None)
    began = time.monotonic()
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            first = time.monotonic() - began
            return answer.status, answer.read().decode(), dict(answer.headers), first
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), dict(error.headers), time.monotonic() - began


def wait_until_read():
    """Waits until the console has read everything and shows dead letters."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        status, page, _, _ = fetch("/", {"X-Forwarded-User": USER})
        if status == 200 and "Still reading" not in page and "has not answered" not in page:
            status, page, _, _ = fetch("/dead-letters", {"X-Forwarded-User": USER})
            if "No dead letter matches" not in page:
                return
        time.sleep(0.3)
    sys.exit("scripts/check console: the console showed no dead letters within a minute")


def outside():
    """Checks that need no browser."""
    status, body, headers, _ = fetch("/")
    expect(status == 403 and "Millrace" not in body, f"a request without a user was answered {status}, expected 403")
    expect("default-src 'none'" in headers.get("Content-Security-Policy", ""), "the response has no content security policy")
    forged = {"X-Forwarded-User": USER, "Origin": "https://evil.example"}
    status, _, _, _ = fetch("/dead-letters/discard", forged, {"item": "x/0/0", "why": "forged", "token": "0-00"})
    expect(status == 403, f"a forged form was answered {status}, expected 403")
    for path in ["/nowhere", "/dead-letters/none/0/0", "/dead-letters/a/b/c"]:
        status, _, _, _ = fetch(path, {"X-Forwarded-User": USER})
        expect(status == 404, f"{path} was answered {status}, expected 404")
    history = re.findall(r'<svg class="history".*?<desc id="[^"]+">([^<]+)</desc>.*?<path d="(M[^"]*)"/></svg>', fetch("/", {"X-Forwarded-User": USER})[1])
    expect(len(history) == 10, f"{len(history)} charts of the last 24 hours, expected 10")
    expect(all(path.count("M") >= 2 for _, path in history), "a chart does not show the hour without a console as a gap")
    print(f"    charts of the last 24 hours: {len(history)}; the first: {html.unescape(history[0][0]) if history else 'none'}")
    slowest = max(fetch("/", {"X-Forwarded-User": USER})[3] for _ in range(20))
    print(f"    first byte of the overview: at most {slowest * 1000:.0f} ms in 20 requests")


def look(page, name, path):
    """Checks a page in light and dark mode, at desktop and phone size. It is loaded once for each size, because a browser
    lays a page out for a phone when it loads it."""
    for device, (width, height) in {"desk": (1280, 860), "phone": (390, 844)}.items():
        page.size(width, height, device == "phone")
        page.visit(address + path)
        for scheme in ["light", "dark"]:
            page.scheme(scheme)
            found.extend(problems(page, f"{name}, {scheme}, {device}", device == "phone"))
            page.picture(f"{shots}/{name}-{scheme}-{device}.png")
        page.scheme("light")
    page.size(1280, 860)


posts = collections.Counter()


class Receiver(http.server.BaseHTTPRequestHandler):
    """Refuses the first post of each event."""

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        posts[self.headers["webhook-id"]] += 1
        is_first = posts[self.headers["webhook-id"]] == 1
        self.send_response(422 if is_first else 204)
        self.end_headers()
        if is_first:
            self.wfile.write(b"no such\r\n<customer>")

    def log_message(self, *_):
        pass


def deliver(page):
    """Posts the events of the campaign to a receiver, and sends one again."""
    threading.Thread(target=http.server.ThreadingHTTPServer(("127.0.0.1", port), Receiver).serve_forever, daemon=True).start()

    def row(words):
        """The first delivery whose state has these words."""
        return page.evaluate(
            "[...document.querySelectorAll('tbody tr')].find((row) => row.innerText.includes("
            f"{json.dumps(words)}))?.querySelector('th a').getAttribute('href')")

    page.visit(f"{address}/webhooks/crm")
    expect(row("not read yet"), "an event that no webhook has read has another state")
    worker = subprocess.Popen(webhook, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while page.evaluate("[...document.querySelectorAll('tbody .state')].some((state) => !state.innerText.startsWith('delivered'))"):
            if time.monotonic() > end:
                sys.exit("scripts/check console: the webhook did not deliver its events within a minute")
            time.sleep(0.3)
            page.visit(f"{address}/webhooks/crm")
        look(page, "webhook", "/webhooks/crm")
        look(page, "delivery", row("delivered"))
        text = page.evaluate("document.querySelector('main').innerText")
        for words in ["delivered, answered 204", "refused: answered 422", "no such <customer>"]:
            expect(words in text, f"a delivery that was refused at first does not show {words!r}: {text}")
        page.click("#why")
        page.type("the CRM lost it")
        page.after_load(lambda: page.click("form.decide button"))
        expect("Resend requested" in page.evaluate("document.body.innerText"), "the page does not confirm the resend")
        run = page.evaluate("document.querySelector('main .lead a').getAttribute('href')")
        end, outcomes = time.monotonic() + 60, {}
        # Zero of everything, until the webhook has posted the event.
        while outcomes.get("records") != "1" and time.monotonic() < end:
            time.sleep(0.3)
            page.visit(address + run)
            outcomes = page.evaluate(
                "Object.fromEntries([...document.querySelectorAll('main table th[scope=col]')].map((head, column) =>"
                " [head.innerText, head.closest('table').querySelector('tbody tr').children[column].innerText]))")
        print(f"    {len(posts)} events in {posts.total()} posts; outcome of the resend: {outcomes}")
        expect("webhook-crm" in outcomes.get("Worker", "") and outcomes.get("records") == "1" and outcomes.get("waiting") == "0"
               and outcomes.get("dead letters") == "0", f"the run does not say what became of the event: {outcomes}")
        expect(sorted(posts.values())[-1] == 3, f"the event was not posted again: {posts}")
        look(page, "run-outcomes", run)
    finally:
        worker.terminate()
        worker.wait(30)


def main():
    wait_until_read()
    outside()
    browser = Browser()
    try:
        page = browser.open({"X-Forwarded-User": USER})
        page.scheme("light")
        page.size(1280, 860)
        page.visit(f"{address}/dead-letters")
        letter = page.evaluate("document.querySelector('tbody th a').getAttribute('href')")
        subject = page.evaluate("document.querySelector('tbody td.code')?.textContent")
        page.visit(f"{address}/")
        page.until("document.querySelector('#runs tbody th a') !== null")
        run = page.evaluate("document.querySelector('#runs tbody th a').getAttribute('href')")
        page.until("document.querySelector('#refusals').innerText.includes('malformed')", 60)
        page.visit(f"{address}/quarantine")
        quarantined = page.evaluate("document.querySelector('tbody th a').getAttribute('href')")
        pages = {
            "overview": "/", "dead-letters": "/dead-letters?state=all", "dead-letter": letter,
            "decide": "/dead-letters/decide?do=requeue&all=1", "timeline": f"/timeline?id={urllib.parse.quote(subject)}",
            "timeline-question": "/timeline", "run": run, "not-found": "/dead-letters?q=there-is-no-such-thing",
            "quarantine": "/quarantine", "quarantined": quarantined, "resubmit": "/quarantine/resubmit?all=1",
        }
        for name, path in pages.items():
            look(page, name, path)
        for name in ["overview", "dead-letters", "decide", "timeline"]:
            page.visit(address + pages[name])
            found.extend(focus_problems(page, name))

        # Two screenshots for the README.
        page.size(1180, 820)
        for name in ["overview", "timeline"]:
            page.visit(address + pages[name])
            page.picture(f"{shots}/readme-{name}.png", whole=False)
        page.size(1280, 860)

        # Pages show their content without JavaScript.
        page.send("Emulation.setScriptExecutionDisabled", {"value": True})
        for name in ["overview", "dead-letters", "timeline"]:
            page.visit(address + pages[name])
            text = page.send("DOM.getOuterHTML", {"nodeId": page.send("DOM.getDocument")["root"]["nodeId"]})["outerHTML"]
            expect(subject in text or name == "overview", f"{name}: no content without JavaScript")
        page.send("Emulation.setScriptExecutionDisabled", {"value": False})

        # Another tab receives updates live.
        watcher = browser.open({"X-Forwarded-User": USER})
        watcher.size(1280, 860)
        watcher.visit(f"{address}/")
        before = watcher.evaluate("document.querySelectorAll('#audit tbody tr').length")

        # Requeue by mouse.
        page.visit(f"{address}/dead-letters")
        page.click("tbody tr:nth-child(1) input[type=checkbox]")
        page.click("tbody tr:nth-child(2) input[type=checkbox]")
        page.after_load(lambda: page.click("button[value=requeue]"))
        expect("2 dead letters" in page.evaluate("document.querySelector('h1').textContent"), "the page does not show the two selected dead letters")
        page.click("#why")
        page.type("the receiver is back")
        page.after_load(lambda: page.click("form.decide button"))
        outcome = page.evaluate("document.querySelector('h1').textContent")
        expect("sent again" in outcome, f"requeue: {outcome}")
        found.extend(problems(page, "outcome"))
        page.picture(f"{shots}/outcome-light-desk.png")

        # Discard by keyboard.
        page.visit(f"{address}/dead-letters")
        page.evaluate("document.querySelector('tbody th a').focus()")
        page.after_load(lambda: page.press("Enter", text="\r"))
        page.evaluate("document.querySelector('#content').focus()")
        for _ in range(20):
            page.press("Tab")
            if page.evaluate("document.activeElement.value === 'discard'"):
                break
        page.after_load(lambda: page.press("Enter", text="\r"))
        for _ in range(40):
            page.press("Tab")
            if page.evaluate("document.activeElement.id === 'why'"):
                break
        page.type("tested by keyboard")
        page.after_load(lambda: page.press("Enter", text="\r"))
        outcome = page.evaluate("document.querySelector('h1').textContent")
        expect("1 of 1 discarded" in outcome, f"discard: {outcome}")

        # A quarantined body is verified again. It is still refused.
        page.visit(address + quarantined)
        page.after_load(lambda: page.click("form.actions button"))
        page.click("#why")
        page.type("new roots")
        page.after_load(lambda: page.click("form.decide button"))
        outcome = page.evaluate("document.querySelector('main').innerText")
        expect("0 of 1 written" in outcome and "still refused" in outcome, f"resubmit: {outcome}")
        found.extend(problems(page, "resubmit outcome"))

        # A backfill in another process pauses, resumes and stops, and the overview shows its state.
        for word, state in [("pause", "paused"), ("resume", "running"), ("stop", "stopped")]:
            page.visit(f"{address}/#runs")
            page.after_load(lambda: page.click("#runs tbody th a"))
            page.after_load(lambda: page.click(f"button[value={word}]"))
            expect(f"Requested: {word}" in page.evaluate("document.body.innerText"), f"the page does not confirm {word}")
            watcher.until(f"document.querySelector('#runs tbody tr').innerText.includes('{state}')", 60)
        expect(
            page.evaluate(f"fetch('{run}').then(answer => answer.text()).then(text => !text.includes('value=\"stop\"'))"),
            "a finished run can be stopped")

        # A running campaign: its worker counts, and the overview shows the sums.
        watcher.until("/[1-9]\\d* extensions reported/.test(document.querySelector('#campaigns').innerText)", 90)
        watcher.until("/failures ended: [1-9]/.test(document.querySelector('#campaigns').innerText)", 90)

        deliver(page)

        # The browser does not submit a form without a reason.
        page.visit(f"{address}/dead-letters/decide?do=discard&all=1")
        page.click("form.decide button")
        expect(page.evaluate("document.querySelector('#why:invalid') !== null"), "a form without a reason can be submitted")

        watcher.until(f"document.querySelectorAll('#audit tbody tr').length >= {before + 5}")
        trail = watcher.evaluate("document.querySelector('#audit').innerText")
        for words in [USER, "requeue", "discard", "pause", "resume", "stop", "backfill", "stopped", "tested by keyboard", "done", "resubmit", "new roots",
                      "reapply", "the CRM lost it"]:
            expect(words in trail, f"the audit log does not contain {words!r}")
        watcher.evaluate("document.querySelector('#lag details summary')?.click()")
        watcher.picture(f"{shots}/overview-acted-light-desk.png")

        # The search finds settled dead letters and shows their state.
        page.visit(f"{address}/dead-letters?state=settled")
        expect("discarded" in page.evaluate("document.body.innerText"), "settled dead letters are not found")

        # Kafka stops answering, and later answers again.
        stopped = time.monotonic()
        os.kill(cluster, signal.SIGSTOP)
        try:
            watcher.until("document.querySelector('.stale') !== null")
            print(f"    the figures are grey {time.monotonic() - stopped:.1f} s after Kafka has stopped")
            words = watcher.evaluate("document.querySelector('#glance').innerText")
            expect("Kafka has not answered for" in words, f"the page does not say how old the figures are: {words}")
            filter = watcher.evaluate("getComputedStyle(document.querySelector('#lag')).filter")
            expect(filter == "grayscale(1)", f"old figures are not grey: {filter}")
            watcher.picture(f"{shots}/overview-stale-light-desk.png")
        finally:
            os.kill(cluster, signal.SIGCONT)
        watcher.until("document.querySelector('.stale') === null", 60)

        for tab in [page, watcher]:
            elsewhere = {url for url in tab.requests if not url.startswith(address + "/") and url != "about:blank"}
            expect(not elsewhere, f"requests to other hosts: {elsewhere}")
            found.extend(tab.problems)
        print(f"    {len(page.requests) + len(watcher.requests)} requests, all to the console")
    finally:
        browser.close()
    print(f"    {len([name for name in os.listdir(shots) if name.endswith('.png')])} screenshots in {shots}")
    for problem in dict.fromkeys(found):
        print(f"  ✘ {problem}")
    if found:
        sys.exit(f"scripts/check console: {len(set(found))} problems")


main()
