"""A stub of an OpenTelemetry collector for scripts/check tracing.

usage: tracing-collector.py PORT FILE

It answers the first two requests with 503 and writes every request as a line of JSON.
"""
import http.server
import json
import sys
import threading


class Collector(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    lock = threading.Lock()
    count = 0

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with Collector.lock, open(sys.argv[2], "a") as file:
            Collector.count += 1
            status = 503 if Collector.count <= 2 else 200
            if self.path != "/v1/traces" or self.headers["Content-Type"] != "application/json":
                status = 400
            file.write(json.dumps({"status": status, "body": json.loads(body)}) + "\n")
        self.send_response(status)
        if status == 503:
            self.send_header("Retry-After", "1")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *arguments):
        pass


if __name__ == "__main__":
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Collector).serve_forever()
