// A stand-in for @confluentinc/kafka-javascript, which is in no registry that this project's checks reach. It has the part
// of its promisified API that docs/consuming.md uses, and reads through kcat, which is based on librdkafka too.

const { spawn } = require("node:child_process");
const { createInterface } = require("node:readline");

class Consumer {
  constructor(settings) {
    this.settings = settings;
  }
  async connect() {}
  async subscribe({ topics }) {
    this.topics = topics;
  }
  async run({ eachMessage }) {
    const { "group.id": group, ...settings } = this.settings;
    const options = Object.entries(settings).flatMap(([name, value]) => ["-X", `${name}=${value}`]);
    const kcat = spawn("kcat", [...options, "-q", "-u", "-J", "-G", group, ...this.topics], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    process.on("SIGTERM", () => {
      // kcat does not always end after SIGTERM.
      kcat.kill("SIGKILL");
      process.exit(0);
    });
    for await (const line of createInterface({ input: kcat.stdout })) {
      const record = JSON.parse(line);
      await eachMessage({ topic: record.topic, partition: record.partition, message: message(record) });
    }
  }
}

/** A record of `kcat -J` as the client presents it. A repeated header becomes an array. */
function message(record) {
  const buffer = (text) => (text === null || text === undefined ? null : Buffer.from(text));
  const headers = {};
  const pairs = record.headers ?? [];
  for (let index = 0; index < pairs.length; index += 2) {
    const [name, value] = [pairs[index], buffer(pairs[index + 1])];
    headers[name] = name in headers ? [headers[name], value].flat() : value;
  }
  return { key: buffer(record.key), value: buffer(record.payload), headers, offset: String(record.offset) };
}

class Kafka {
  consumer(settings) {
    return new Consumer(settings);
  }
}

module.exports = { KafkaJS: { Kafka } };
