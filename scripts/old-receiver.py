"""The receiver a team had before, for scripts/check-forward: slow, failing, and writing down what it took.

usage: old-receiver.py PORT_FILE LOG SEED

Writes its port to PORT_FILE, and one body a line to LOG, in the order it took them, repetitions included; to LOG.told the
webhook-id of each that it has answered 200, which does not come again. What goes wrong
follows from SEED, the notification and how often that came before, so it does not depend on the order of arrival.
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
        body = self.rfile.read(int(self.headers["content-length"]))
        notification = self.headers["webhook-id"]
        with lock:
            before = tries.get(notification, 0)
            tries[notification] = before + 1
            luck = random.Random(f"{seed}/{notification}/{before}")
            # Nobody is unlucky for ever.
            fate = luck.random() if before < 4 else 1
            if fate >= 0.22:
                log.write(body + b"\n")
        time.sleep(luck.uniform(0.005, 0.02))
        if 0.22 <= fate < 0.28:
            # Taken, and nobody is told.
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
                told.write(notification + "\n")

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


server = Server(("127.0.0.1", 0), Receiver)
with open(port_file, "w") as file:
    file.write(str(server.server_address[1]))
server.serve_forever()
