"""An OAuth server that issues unsecured tokens (client credentials, RFC 6749), and misbehaves as a file says.

token_server.py PORT MODE_FILE SECONDS    tokens live SECONDS; the file contains good, slow, hang, down or nonsense
"""

import base64
import http.server
import json
import pathlib
import sys
import time

PORT, MODE, LIFETIME = int(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
CLIENT = "Basic " + base64.b64encode(b"millrace:pass%26word").decode()


def part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def token():
    now = time.time()
    claims = {"sub": "millrace", "iat": now, "exp": now + LIFETIME}
    return f"{part({'alg': 'none'})}.{part(claims)}."


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        form = self.rfile.read(int(self.headers["content-length"]))
        mode = MODE.read_text().strip()
        print(f"{time.time():.3f} {mode}", flush=True)
        if mode == "down":
            self.close_connection = True
            return None
        if mode == "nonsense":
            return self.answer(200, b"<html>It works!</html>")
        if mode == "hang":
            time.sleep(20)
        if mode == "slow":
            time.sleep(3)
        if self.headers["authorization"] != CLIENT or form != b"grant_type=client_credentials&scope=kafka":
            return self.answer(401, b'{"error":"invalid_client"}')
        body = {"access_token": token(), "token_type": "Bearer", "expires_in": LIFETIME}
        return self.answer(200, json.dumps(body).encode())

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Server).serve_forever()
