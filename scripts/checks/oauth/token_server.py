"""An OAuth server (client credentials, RFC 6749) that misbehaves as a file says.

token_server.py PORT MODE_FILE SECONDS KEY    tokens live SECONDS; MODE_FILE contains good, slow, hang, down or nonsense

/token issues unsecured tokens, /signed tokens that the RSA key in the file KEY signs (RS256), and /keys has its public part.
"""

import base64
import http.server
import json
import pathlib
import subprocess
import sys
import time

PORT, MODE, LIFETIME, KEY = int(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
CLIENT = "Basic " + base64.b64encode(b"millrace:pass%26word").decode()


def text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def part(value):
    return text(json.dumps(value).encode())


def openssl(*arguments, data=b""):
    return subprocess.run(["openssl", *arguments], input=data, capture_output=True, check=True).stdout


def token(signed):
    now = int(time.time())
    claims = {"sub": "millrace", "aud": "kafka", "scope": "kafka", "iat": now, "exp": now + LIFETIME}
    if not signed:
        return f"{part({'alg': 'none'})}.{part(claims)}."
    content = f"{part({'alg': 'RS256', 'kid': 'one'})}.{part(claims)}"
    return f"{content}.{text(openssl('dgst', '-sha256', '-sign', KEY, data=content.encode()))}"


def keys():
    modulus = openssl("rsa", "-in", KEY, "-noout", "-modulus").decode().strip().removeprefix("Modulus=")
    key = {"kty": "RSA", "kid": "one", "alg": "RS256", "use": "sig", "n": text(bytes.fromhex(modulus)), "e": "AQAB"}
    return json.dumps({"keys": [key]}).encode()


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
        body = {"access_token": token(self.path == "/signed"), "token_type": "Bearer", "expires_in": LIFETIME}
        return self.answer(200, json.dumps(body).encode())

    def do_GET(self):
        self.answer(200, keys()) if self.path == "/keys" else self.answer(404, b"{}")

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Server).serve_forever()
