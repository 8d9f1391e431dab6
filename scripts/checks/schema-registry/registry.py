"""A schema registry in memory, with the part of Confluent's REST API that producers and consumers use.

It accepts a JSON Schema only with the user millrace and the password secret, and prints its port.
"""
import base64
import http.server
import json
import re

CREDENTIALS = "Basic " + base64.b64encode(b"millrace:secret").decode()
schemas = []  # the id of a schema is its place, counted from 1
subjects = {}


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Authorization") != CREDENTIALS:
            return self.answer(401, {"error_code": 401, "message": "Unauthorized"})
        match = re.fullmatch(r"/subjects/([^/]+)/versions", self.path)
        request = json.loads(body)
        if not match or request.get("schemaType") != "JSON":
            return self.answer(422, {"error_code": 42201, "message": "Invalid schema"})
        if request["schema"] not in schemas:
            schemas.append(request["schema"])
        subjects.setdefault(match[1], []).append(request["schema"])
        self.answer(200, {"id": schemas.index(request["schema"]) + 1})

    def do_GET(self):
        if match := re.fullmatch(r"/schemas/ids/([0-9]+)(\?.*)?", self.path):
            number = int(match[1])
            if 1 <= number <= len(schemas):
                return self.answer(200, {"schema": schemas[number - 1], "schemaType": "JSON"})
        elif self.path.split("?")[0] == "/subjects":
            return self.answer(200, sorted(subjects))
        self.answer(404, {"error_code": 40403, "message": "Schema not found"})

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
