"""Controls a headless Chromium through the DevTools protocol over a pipe, with only the standard library."""

import base64
import collections
import json
import os
import select
import subprocess
import tempfile
import time


class Browser:
    """A Chromium process. Commands and events are separated by NUL on a pair of pipes."""

    def __init__(self, executable="chromium"):
        self.profile = tempfile.TemporaryDirectory(prefix="millrace-chromium.", ignore_cleanup_errors=True)
        reads_commands, self.commands = os.pipe()
        self.answers, writes_answers = os.pipe()

        def wire():
            # Chromium reads from 3 and writes to 4.
            here = [os.dup(reads_commands), os.dup(writes_answers)]
            os.dup2(here[0], 3)
            os.dup2(here[1], 4)

        self.process = subprocess.Popen(
            [executable, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--no-first-run", "--hide-scrollbars", "--force-color-profile=srgb",
             f"--user-data-dir={self.profile.name}", "about:blank"],
            preexec_fn=wire, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(reads_commands)
        os.close(writes_answers)
        self.number = 0
        self.rest = b""
        self.results = {}
        self.pages = {}

    def send(self, method, parameters=None, session=None, patience=30):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + patience
        while number not in self.results:
            if not self.read(end - time.monotonic()):
                raise TimeoutError(f"{method} was not answered within {patience} s")
        answer = self.results.pop(number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def read(self, patience):
        """Reads available messages; returns False after the timeout."""
        ready, _, _ = select.select([self.answers], [], [], max(0, patience))
        if not ready:
            return False
        data = os.read(self.answers, 1 << 20)
        if not data:
            raise RuntimeError("Chromium exited")
        *whole, self.rest = (self.rest + data).split(b"\0")
        for text in whole:
            message = json.loads(text)
            if "id" in message:
                self.results[message["id"]] = message
            elif message.get("sessionId") in self.pages:
                self.pages[message["sessionId"]].heard(message["method"], message["params"])
        return True

    def open(self, headers):
        return Page(self, headers)

    def close(self):
        try:
            self.send("Browser.close", patience=5)
        except (TimeoutError, RuntimeError, OSError):
            self.process.kill()
        self.process.wait()
        self.profile.cleanup()


class Page:
    """A tab. It collects errors instead of raising them, so that the check reports all."""

    def __init__(self, browser, headers):
        self.browser = browser
        self.problems = []
        self.requests = []
        self.events = collections.Counter()
        target = browser.send("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = browser.send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        browser.pages[self.session] = self
        for domain in ["Page", "Runtime", "Log", "Network", "DOM", "Accessibility"]:
            self.send(f"{domain}.enable")
        if headers:
            self.send("Network.setExtraHTTPHeaders", {"headers": headers})

    def send(self, method, parameters=None):
        return self.browser.send(method, parameters, self.session)

    def heard(self, method, parameters):
        self.events[method] += 1
        if method == "Runtime.exceptionThrown":
            self.problems.append(f"exception: {parameters['exceptionDetails'].get('text')}")
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.problems.append(f"console.{parameters['type']}: {parameters['args']}")
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.problems.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def evaluate(self, expression):
        answer = self.send(
            "Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(f"{details['text']} {details.get('exception', {}).get('description', '')}")
        return answer["result"].get("value")

    def after_load(self, act, patience=30):
        """Performs an action that loads a page, and waits for the load."""
        before = self.events["Page.loadEventFired"]
        act()
        end = time.monotonic() + patience
        while self.events["Page.loadEventFired"] == before:
            if not self.browser.read(end - time.monotonic()):
                raise TimeoutError(f"no page loaded within {patience} s")

    def visit(self, url):
        self.after_load(lambda: self.send("Page.navigate", {"url": url}))

    def until(self, expression, patience=30):
        """Waits until an expression is true."""
        end = time.monotonic() + patience
        while not self.evaluate(expression):
            if time.monotonic() > end:
                raise TimeoutError(f"not within {patience} s: {expression}")
            self.browser.read(0.1)

    def click(self, selector):
        """Clicks in the middle of an element's first line."""
        box = self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center', behavior: 'instant'}});"
            " const b = e.getClientRects()[0]; return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        for kind in ["mousePressed", "mouseReleased"]:
            self.send("Input.dispatchMouseEvent", {
                "type": kind, "x": box[0], "y": box[1], "button": "left", "clickCount": 1})

    def press(self, key, code=None, text=None):
        codes = {"Tab": 9, "Enter": 13, " ": 32}
        event = {"key": key, "code": code or key, "windowsVirtualKeyCode": codes.get(key, 0)}
        if text:
            event["text"] = text
        self.send("Input.dispatchKeyEvent", {"type": "keyDown", **event})
        self.send("Input.dispatchKeyEvent", {"type": "keyUp", **event})

    def type(self, text):
        self.send("Input.insertText", {"text": text})

    def size(self, width, height, is_phone=False):
        self.send("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone})

    def scheme(self, name):
        self.send("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": name}, {"name": "prefers-reduced-motion", "value": "reduce"}]})

    def picture(self, path, whole=True):
        parameters = {"format": "png", "captureBeyondViewport": whole}
        if whole:
            size = self.send("Page.getLayoutMetrics")["cssContentSize"]
            parameters["clip"] = {
                "x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 4000), "scale": 1}
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.send("Page.captureScreenshot", parameters)["data"]))
