#!/usr/bin/env python3
"""A receiver of Millrace's alerts (docs/alerts.md). It checks the signature and prints each alert once.

    ALERTS_SECRET=whsec_... python3 receiver.py 8090
"""

import base64
import hashlib
import hmac
import http.server
import json
import os
import sys
import time

TOLERANCE = 300  # seconds


def key(secret: str) -> bytes:
    return base64.b64decode(secret[6:]) if secret.startswith("whsec_") else secret.encode()


def is_genuine(headers, body: bytes, secret: str) -> bool:
    identifier, sent = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not sent.isdigit() or abs(time.time() - int(sent)) > TOLERANCE:
        return False
    code = hmac.new(key(secret), f"{identifier}.{sent}.".encode() + body, hashlib.sha256).digest()
    expected = "v1," + base64.b64encode(code).decode()
    return any(hmac.compare_digest(expected, one) for one in headers.get("webhook-signature", "").split())


class Receiver(http.server.BaseHTTPRequestHandler):
    seen: set[str] = set()

    def do_POST(self):
        body = self.rfile.read(min(int(self.headers.get("content-length", 0)), 1 << 20))
        if not is_genuine(self.headers, body, os.environ["ALERTS_SECRET"]):
            self.send_response(401)
        else:
            identifier = self.headers["webhook-id"]
            if identifier not in self.seen:
                self.seen.add(identifier)
                print(json.loads(body)["text"], flush=True)
            self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
