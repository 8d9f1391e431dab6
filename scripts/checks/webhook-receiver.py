"""A slow and failing receiver of webhooks for scripts/check webhooks.

usage: webhook-receiver.py PORT_FILE LOG SEED SECRET_FILE DOWN

Writes its port to PORT_FILE, and a line to LOG for each event that it accepts, in order of arrival and with repetitions:
its key, its id and its type. Answers 401 to a post whose signature is wrong. Answers 503 to the first DOWN posts. After
that, SEED, the event and the number of earlier attempts determine failures.
"""

import base64
import hashlib
import hmac
import json
import random
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

port_file, log_file, seed, secret_file, down = sys.argv[1:]
with open(secret_file) as file:
    secret = base64.b64decode(file.read().strip().removeprefix("whsec_"))
tries = {}
posts = 0
lock = threading.Lock()
log = open(log_file, "w", buffering=1)


def is_genuine(headers, body):
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.digest(secret, signed, hashlib.sha256))
    signatures = headers["webhook-signature"].encode().split()
    is_recent = abs(time.time() - int(headers["webhook-timestamp"])) < 300
    return is_recent and any(hmac.compare_digest(one, expected) for one in signatures)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        global posts
        body = self.rfile.read(int(self.headers["content-length"]))
        if not is_genuine(self.headers, body):
            return self.answer(401)
        event = json.loads(body)
        with lock:
            posts += 1
            before = tries.get(event["id"], 0)
            tries[event["id"]] = before + 1
            luck = random.Random(f"{seed}/{event['id']}/{before}")
            # An event fails at most four times.
            fate = luck.random() if before < 4 else 1
            if posts <= int(down):
                fate = 0
            if fate >= 0.2:
                log.write(f"{event['subject']}\t{event['id']}\t{event['type']}\n")
        time.sleep(luck.uniform(0.002, 0.01))
        if 0.2 <= fate < 0.25:
            # The event is accepted, but the answer is lost.
            self.close_connection = True
            return None
        return self.answer(503 if fate < 0.1 else 404 if fate < 0.15 else 429 if fate < 0.2 else 204)

    def answer(self, status):
        self.send_response(status)
        if status in (429, 503):
            self.send_header("Retry-After", "0")
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


server = Server(("127.0.0.1", 0), Receiver)
with open(port_file, "w") as file:
    file.write(str(server.server_address[1]))
server.serve_forever()
