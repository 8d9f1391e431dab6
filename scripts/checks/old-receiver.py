"""A slow and failing receiver for scripts/check forward and scripts/check watch.

usage: old-receiver.py PORT_FILE LOG SEED

Writes its port to PORT_FILE. Writes each accepted body as a line to LOG, in order of arrival and with repetitions. Writes
the path and webhook-id of each post that it answered 200 to LOG.told; the worker with this path does not post the
notification again. SEED, the notification and the number of earlier attempts determine failures, so they do not depend on
the order of arrival.
"""

import random
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

port_file, log_file, seed = sys.argv[1:]
tries = {}
lock = threading.Lock()
log = open(log_file, "wb", buffering=0)
told = open(log_file + ".told", "w", buffering=1)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        length = int(self.headers["content-length"])
        body = self.rfile.read(length)
        if len(body) < length:
            # The worker was killed during the post.
            self.close_connection = True
            return
        notification = self.headers["webhook-id"]
        with lock:
            before = tries.get(notification, 0)
            tries[notification] = before + 1
            luck = random.Random(f"{seed}/{notification}/{before}")
            # A notification fails at most four times.
            fate = luck.random() if before < 4 else 1
            if fate >= 0.22:
                log.write(body + b"\n")
        time.sleep(luck.uniform(0.005, 0.02))
        if 0.22 <= fate < 0.28:
            # The body is accepted, but the response is lost.
            self.close_connection = True
            return
        status = 500 if fate < 0.1 else 503 if fate < 0.15 else 429 if fate < 0.18 else 404 if fate < 0.22 else 200
        self.send_response(status)
        if status in (429, 503):
            self.send_header("Retry-After", "0")
        self.send_header("Content-Length", "0")
        self.end_headers()
        if status == 200:
            with lock:
                told.write(f"{self.path} {notification}\n")

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


server = Server(("127.0.0.1", 0), Receiver)
with open(port_file, "w") as file:
    file.write(str(server.server_address[1]))
server.serve_forever()
