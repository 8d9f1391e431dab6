"""The endpoint: verifies the signature of a request, asks the worker, and answers with its outcome.

An exception in the worker becomes an answer 500, and Millrace sends the request again later.
"""

import json
import os
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from standardwebhooks import Webhook, WebhookVerificationError

from worker import decide

app = FastAPI(openapi_url=None)


def webhook() -> Webhook:
    """Reads the secret for each request: it can be replaced while the process runs."""
    secret = Path(os.environ["WEBHOOK_SECRET_FILE"]).read_text().strip()
    return Webhook(secret if secret.startswith("whsec_") else secret.encode())


@app.post("/notifications")
async def notifications(request: Request) -> Response:
    body = await request.body()
    verifier = webhook()
    try:
        verifier.verify(body, dict(request.headers), json_parse=False)
    except (WebhookVerificationError, ValueError):
        return problem(401, "the signature is missing or wrong")
    try:
        data = json.loads(body)["data"]
    except (ValueError, TypeError, KeyError):
        return problem(400, "the body is not a CloudEvent")
    outcome = decide(data)
    return Response(status_code=204) if outcome is None else JSONResponse(outcome)


def problem(status: int, title: str) -> Response:
    return JSONResponse({"title": title, "status": status}, status, media_type="application/problem+json")
