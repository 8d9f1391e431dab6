"""Runs the proxy ../shared/tools/kafka-delay, whose path is the first argument, with its options.

The proxy knows InitProducerId, but holds none. Here `--hold InitProducerId=SHARE` is possible too: a request that arrives
late raises the producer's epoch, which fences the producer that has the name by then.
"""

import asyncio
import importlib.machinery
import importlib.util
import sys

sys.dont_write_bytecode = True  # ../shared may be read-only


def loaded(path):
    loader = importlib.machinery.SourceFileLoader("kafka_delay", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("kafka_delay", loader))
    loader.exec_module(module)
    return module


def main():
    path, *words = sys.argv[1:]
    proxy = loaded(path)
    own = [number for number, word in enumerate(words) if word.startswith("InitProducerId=")]
    sys.argv = [path, *(word for number, word in enumerate(words) if number not in own and number + 1 not in own)]
    options = proxy.arguments()
    for number in own:
        options.hold["InitProducerId"] = float(words[number].partition("=")[2])
    asyncio.run(proxy.Proxy(options).run())


main()
