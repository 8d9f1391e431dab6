// Transactions without late requests: what readers see, fencing, timeouts, topics that are created again, and misuse.

internal import KafkaClient
internal import MillraceRecords

extension Schedule {
  static let transactions: [Schedule] = [
    withProducer("a committed transaction", ends: ["t: a b"]) { _, p in
      await p.begin()
      await p.send("a")
      await p.send("b")
      await p.commit()
    },
    withProducer("an aborted transaction", ends: ["t: b"]) { _, p in
      await p.begin()
      await p.send("a")
      await p.abort()
      await p.transaction("b")
    },
    withProducer("an open transaction holds readers back", ends: ["t now: ", "t: open behind"]) { stage, p in
      await p.begin()
      await p.send("open")
      try await stage.write("behind")
      await stage.glance()
      await p.commit()
    },
    Schedule("two open transactions of a partition", ends: ["t now: ", "t: a b"]) { stage in
      try await stage.topic()
      let p = try await stage.producer("p")
      let q = try await stage.producer("q")
      await p.begin()
      await p.send("a")
      await q.transaction("b")
      await stage.glance()
      await p.commit()
      await stage.read()
    },
    withProducer("empty transactions", ends: ["t: "]) { _, p in
      await p.begin()
      await p.commit()
      await p.begin()
      await p.abort()
    },
    withProducer("a newer producer fences a commit", ends: ["p commits: _FENCED, fatal", "t: heir"]) { stage, old in
      await old.begin()
      await old.send("zombie")
      let heir = try await stage.producer("p", as: "heir")
      await heir.transaction("heir")
      await old.commit()
    },
    withProducer("a newer producer fences an abort", ends: ["p aborts: _FENCED, fatal", "t: heir"]) { stage, old in
      await old.begin()
      await old.send("zombie")
      let heir = try await stage.producer("p", as: "heir")
      await heir.transaction("heir")
      await old.abort()
    },
    withProducer("a newer producer fences a record", ends: ["p sends zombie: _FENCED, fatal", "t: heir"]) {
      stage, old in
      await old.begin()
      let heir = try await stage.producer("p", as: "heir")
      await heir.transaction("heir")
      await old.send("zombie")
    },
    withProducer(
      "a newer producer fences another record of a transaction",
      ends: [
        "p sends b: _FENCED, fatal", "t: heir",
      ]
    ) { stage, old in
      await old.begin()
      await old.send("a")
      let heir = try await stage.producer("p", as: "heir")
      await heir.transaction("heir")
      await old.send("b")
    },
    withProducer(
      "a transaction times out before its commit", timeout: .seconds(2), ends: ["p commits: _FENCED, fatal", "t: "]
    ) { stage, p in
      await p.begin()
      await p.send("a")
      await stage.kafka.wait(.seconds(15))
      await p.commit()
    },
    withProducer(
      "a transaction times out before its abort", timeout: .seconds(2), ends: ["p aborts: _FENCED, fatal", "t: "]
    ) { stage, p in
      await p.begin()
      await p.send("a")
      await stage.kafka.wait(.seconds(15))
      await p.abort()
    },
    withProducer(
      "a transaction times out before another record", timeout: .seconds(2), ends: ["p sends b: _FENCED, fatal", "t: "]
    ) { stage, p in
      await p.begin()
      await p.send("a")
      await stage.kafka.wait(.seconds(15))
      await p.send("b")
    },
    // The marker of the commit makes the producer known to the new partition, which then expects the sequence 0.
    withProducer(
      "a topic is created again under an open transaction",
      ends: [
        "p sends b: OUT_OF_ORDER_SEQUENCE_NUMBER, fatal", "p commits: OUT_OF_ORDER_SEQUENCE_NUMBER, fatal", "t: ",
      ]
    ) { stage, p in
      await p.begin()
      await p.send("a")
      try await stage.kafka.recreate(stage.full("t"))
      await p.commit()
      await p.transaction("b")
    },
    withProducer("a topic is created again between transactions", ends: ["t: b"]) { stage, p in
      await p.transaction("a")
      // Until its marker is written.
      await stage.kafka.wait(.seconds(2))
      try await stage.kafka.recreate(stage.full("t"))
      await p.transaction("b")
    },
    Schedule("a topic is created again under a writer without transactions", ends: ["t: b"]) { stage in
      try await stage.topic()
      let writer = try stage.writer()
      await stage.call("write a") { _ = try await writer.send(stage.record("a")) }
      try await stage.kafka.recreate(stage.full("t"))
      await stage.call("write b") { _ = try await writer.send(stage.record("b")) }
      await stage.read()
    },
  ]

  static let misuse: [Schedule] = [
    withProducer("a second begin", ends: ["p begins: _STATE, no retry", "t: a"]) { _, p in
      await p.begin()
      await p.begin()
      await p.send("a")
      await p.commit()
    },
    withProducer("a commit without a transaction", ends: ["p commits: _STATE, no retry", "t: a"]) { _, p in
      await p.commit()
      await p.transaction("a")
    },
    withProducer("an abort without a transaction", ends: ["p aborts: _STATE, no retry", "t: a"]) { _, p in
      await p.abort()
      await p.transaction("a")
    },
    withProducer("a record without a transaction", ends: ["p sends a: _STATE, no retry", "t: b"]) { _, p in
      await p.send("a")
      await p.transaction("b")
    },
    withProducer("a second initialization", ends: ["p initializes: _STATE, no retry", "t: a"]) { _, p in
      await p.initialize()
      await p.transaction("a")
    },
  ]
}
