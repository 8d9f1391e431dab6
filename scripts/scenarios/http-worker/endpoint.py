"""The endpoint of examples/python-worker around the counting worker. It appends each decision to a file, and then waits
a moment before it answers, so that a process can be killed between the decision and its commit.

While the file HOLD exists, no request is answered.
"""

import asyncio
import contextvars
import json
import os
import random

import server
from worker import decide

JOURNAL = os.open(os.environ["JOURNAL"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
HOLD = os.environ["HOLD"]
webhook = contextvars.ContextVar("webhook", default="")


def journaled(data):
    outcome = decide(data)
    entry = {"id": webhook.get(), "data": data, "outcome": outcome}
    # One write appends a whole line, also if the process is killed.
    os.write(JOURNAL, json.dumps(entry).encode() + b"\n")
    return outcome


server.decide = journaled


async def app(scope, receive, send):
    """Adds the `webhook-id` and the wait to the example's application."""

    async def late(message):
        if message["type"] == "http.response.start":
            await asyncio.sleep(random.uniform(0, 0.06))
            while os.path.exists(HOLD):
                await asyncio.sleep(0.05)
        await send(message)

    if scope["type"] == "http":
        webhook.set(dict(scope["headers"]).get(b"webhook-id", b"").decode())
    await server.app(scope, receive, late if scope["type"] == "http" else send)
