"""An endpoint for scripts/check dry-run. It publishes its version, which a file has, for two of three keys.

usage: dry-run-endpoint.py PORT FILE
"""

import http.server
import json
import pathlib
import sys


class Endpoint(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Nagle's algorithm would delay each answer.
    wbufsize = -1

    def do_POST(self):
        data = json.loads(self.rfile.read(int(self.headers["content-length"])))["data"]
        version = int(pathlib.Path(sys.argv[2]).read_text())
        seen = version if sum(data["key"].encode()) % 3 else 1
        body = json.dumps({"events": [{"name": "seen", "data": {"version": seen}}]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        if self.headers.get("millrace-dry-run") == "1":
            self.send_header("millrace-dry-run", "1")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    # Python's 5 are fewer than the connections of a worker. While the server is busy, the kernel drops the others, and a
    # record whose connection fails waits for its next attempt.
    request_queue_size = 128


Server(("127.0.0.1", int(sys.argv[1])), Endpoint).serve_forever()
