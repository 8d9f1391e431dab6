"""A notification service as teams write it: aiohttp, Apple's library and confluent-kafka, one event loop per process.

    python service.py PORT BOOTSTRAP TOPIC SETTINGS [--processes 2]

Answers 200 after Kafka has acknowledged the record, 401 if Apple's library rejects the body.
"""

import argparse
import asyncio
import multiprocessing
import signal
import threading

import apple
from aiohttp import web
from appstoreserverlibrary.signed_data_verifier import VerificationException
from confluent_kafka import Producer


class Service:
    def __init__(self, options):
        self.topic = options.topic
        self.verifier = apple.verifier(options.settings)
        self.producer = Producer({"bootstrap.servers": options.bootstrap, "acks": "all", "linger.ms": 5})
        threading.Thread(target=self.poll, daemon=True).start()

    def poll(self):
        while True:
            self.producer.poll(1)

    async def post(self, request):
        signed = (await request.json())["signedPayload"]
        try:
            notification = apple.verify(self.verifier, signed)
        except VerificationException:
            return web.Response(status=401)
        loop = asyncio.get_running_loop()
        acknowledged = loop.create_future()

        def delivered(error, _):
            loop.call_soon_threadsafe(acknowledged.set_result, error)

        self.producer.produce(self.topic, signed, key=notification.notificationUUID, on_delivery=delivered)
        return web.Response(status=503 if await acknowledged else 200)


def serve(options):
    application = web.Application(client_max_size=1 << 20)
    application.router.add_post("/v2", Service(options).post)
    web.run_app(application, host="127.0.0.1", port=options.port, reuse_port=True, access_log=None, print=None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("bootstrap")
    parser.add_argument("topic")
    parser.add_argument("settings")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    # The benchmark starts this program from a thread that blocks signals, and children inherit that.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, signal.SIGINT})
    others = [multiprocessing.Process(target=serve, args=(options,), daemon=True) for _ in range(options.processes - 1)]
    for other in others:
        other.start()
    serve(options)


if __name__ == "__main__":
    main()
