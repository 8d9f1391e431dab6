// Requests of transactions that arrive late or whose answers are lost (KIP-890 describes the first).

internal import KafkaClient
internal import MillraceRecords

extension Schedule {
  /// Two transactions of one producer. A request of the first is held, and arrives after some answers of the second.
  private static func twoTransactions(
    _ name: String, holding kind: RequestKind, _ release: Hold.Release, ends outcome: [String], first: Bool = true,
    second: Bool = true, hasCode: Bool = true
  ) -> Schedule {
    Schedule(name, holding: kind, release, ends: outcome) { stage in
      try await stage.topic()
      let p = try await stage.producer()
      await p.begin()
      if kind == .endTransaction { await p.send("a") } else { await stage.holding { await p.send("a") } }
      if kind == .endTransaction {
        await stage.holding { await p.end(isCommit: first) }
      } else {
        await p.end(isCommit: first)
      }
      // Until the markers are written: a coordinator refuses the next transaction before.
      await stage.kafka.wait(.seconds(2))
      await p.begin()
      await p.send("b")
      await p.end(isCommit: second)
      await stage.arrival(hasCode: hasCode)
      await stage.kafka.wait(.seconds(2))
      p.noteUnanswered()
      await stage.glance()
    }
  }

  static let lateRequests: [Schedule] = [
    twoTransactions(
      "a commit arrives once the next transaction has begun", holding: .endTransaction, .afterAnswers(1),
      ends: [
        "p sends b: INVALID_TXN_STATE, abort", "p commits: INVALID_TXN_STATE, abort", "the held request arrives: NONE",
        "p has an unanswered request: true", "t now: a",
      ]),
    twoTransactions(
      "a commit arrives after a record of the next transaction", holding: .endTransaction, .afterAnswers(2),
      ends: ["the held request arrives: NONE", "p has an unanswered request: true", "t now: a b"]),
    twoTransactions(
      "a commit arrives before the abort of the next transaction", holding: .endTransaction, .afterAnswers(2),
      ends: [
        "p aborts: INVALID_TXN_STATE, fatal", "the held request arrives: NONE", "p has an unanswered request: true",
        "t now: a b",
      ], second: false),
    twoTransactions(
      "a commit arrives after the next commit", holding: .endTransaction, .afterAnswers(3),
      ends: ["the held request arrives", "p has an unanswered request: true", "t now: a b"], hasCode: false),
    twoTransactions(
      "a commit arrives after the next abort", holding: .endTransaction, .afterAnswers(3),
      ends: ["the held request arrives", "p has an unanswered request: true", "t now: a"],
      second: false, hasCode: false),
    twoTransactions(
      "an abort arrives once the next transaction has begun", holding: .endTransaction, .afterAnswers(1),
      ends: [
        "p sends b: INVALID_TXN_STATE, abort", "p commits: INVALID_TXN_STATE, abort", "the held request arrives: NONE",
        "p has an unanswered request: true", "t now: ",
      ], first: false),
    twoTransactions(
      "an abort arrives after a record of the next transaction", holding: .endTransaction, .afterAnswers(2),
      ends: [
        "p commits: INVALID_TXN_STATE, fatal", "the held request arrives: NONE", "p has an unanswered request: true",
        "t now: ",
      ], first: false),
    twoTransactions(
      "an abort arrives after the next commit", holding: .endTransaction, .afterAnswers(3),
      ends: ["the held request arrives", "p has an unanswered request: true", "t now: b"],
      first: false, hasCode: false),
    twoTransactions(
      "partitions arrive within their transaction", holding: .addPartitions, .afterAnswers(1),
      ends: ["the held request arrives", "p has an unanswered request: true", "t now: a b"]),
    twoTransactions(
      "partitions arrive after their commit", holding: .addPartitions, .afterAnswers(2),
      ends: ["the held request arrives", "p has an unanswered request: true", "t now: a b"]),
    twoTransactions(
      "partitions arrive in the next transaction", holding: .addPartitions, .afterAnswers(3),
      ends: ["the held request arrives", "p has an unanswered request: true", "t now: a b"]),
    twoTransactions(
      "partitions arrive after the next commit", holding: .addPartitions, .afterAnswers(5),
      ends: ["the held request arrives", "p has an unanswered request: true", "t now: a b"]),
    twoTransactions(
      "a record arrives once the next transaction has begun", holding: .produce, .afterAnswers(2),
      ends: [
        "p sends b: OUT_OF_ORDER_SEQUENCE_NUMBER, fatal", "p commits: OUT_OF_ORDER_SEQUENCE_NUMBER, fatal",
        "the held request arrives", "p has an unanswered request: true", "t now: a",
      ]),
    twoTransactions(
      "a record arrives after a record of the next transaction", holding: .produce, .afterAnswers(3),
      ends: ["the held request arrives", "p has an unanswered request: true", "t now: a b"]),
    twoTransactions(
      "an aborted record arrives once the next transaction has begun", holding: .produce, .afterAnswers(2),
      ends: [
        "p sends b: OUT_OF_ORDER_SEQUENCE_NUMBER, fatal", "p commits: OUT_OF_ORDER_SEQUENCE_NUMBER, fatal",
        "the held request arrives", "p has an unanswered request: true", "t now: ",
      ], first: false),
    withProducer(
      "a commit arrives after a new producer's takeover", holding: .endTransaction, .afterAnswers(1),
      ends: [
        "the held request arrives: INVALID_PRODUCER_EPOCH", "t: a b",
      ]
    ) { stage, p in
      await p.begin()
      await p.send("a")
      await stage.holding { await p.commit() }
      await stage.kafka.wait(.seconds(2))
      let heir = try await stage.producer("p", as: "heir")
      await stage.arrival()
      await heir.transaction("b")
    },
    withProducer(
      "an abort arrives in the transaction of a new producer", holding: .endTransaction, .afterAnswers(3),
      ends: [
        "the held request arrives: INVALID_PRODUCER_EPOCH", "t: b",
      ]
    ) { stage, p in
      await p.begin()
      await p.send("a")
      await stage.holding { await p.abort() }
      await stage.kafka.wait(.seconds(2))
      let heir = try await stage.producer("p", as: "heir")
      await heir.transaction("b")
      await stage.arrival()
    },
    withProducer(
      "partitions arrive after a new producer's takeover", holding: .addPartitions, .afterAnswers(3),
      ends: [
        "the held request arrives", "t: a b",
      ]
    ) { stage, p in
      await p.begin()
      await stage.holding { await p.send("a") }
      await p.commit()
      await stage.kafka.wait(.seconds(2))
      let heir = try await stage.producer("p", as: "heir")
      await stage.arrival()
      await heir.transaction("b")
    },
    Schedule(
      "an initialization arrives after its repetition", holding: .initProducerID, .afterAnswers(1),
      ends: [
        "p sends a: _FENCED, fatal", "the held request arrives", "t: ",
      ]
    ) { stage in
      try await stage.topic()
      await stage.kafka.hold(true)
      let p = try await stage.producer()
      await stage.kafka.hold(false)
      await p.begin()
      await p.send("a")
      await stage.arrival()
      await stage.read()
    },
    lateOffsets(
      "a group arrives after the commit", holding: .addOffsets, .afterAnswers(2),
      ends: ["the held request arrives", "offset of t: 2"]),
    lateOffsets(
      "offsets arrive after the commit", holding: .transactionOffsets, .afterAnswers(1),
      ends: ["the held request arrives", "offset of t: 2"]),
    lateOffsets(
      "offsets arrive in the next transaction", holding: .transactionOffsets, .afterAnswers(2),
      ends: ["the held request arrives", "offset of t: 2"]),
    lateOffsets(
      "offsets arrive after newer ones of the next transaction", holding: .transactionOffsets, .afterAnswers(3),
      ends: ["the held request arrives", "offset of t: 1"]),
  ]

  /// Two transactions that commit the offsets 1 and 2.
  private static func lateOffsets(
    _ name: String, holding kind: RequestKind, _ release: Hold.Release, ends outcome: [String]
  ) -> Schedule {
    Schedule(name, holding: kind, release, ends: outcome) { stage in
      try await stage.topic()
      let m = try await stage.member("m")
      await m.assigned(1)
      let p = try await stage.producer()
      await p.begin()
      await stage.holding { await p.sendOffset(1, of: m) }
      await p.commit()
      await stage.kafka.wait(.seconds(2))
      await p.begin()
      await p.sendOffset(2, of: m)
      await p.commit()
      await stage.arrival(hasCode: false)
      // Ends a transaction that the late request has begun.
      let heir = try await stage.producer("p", as: "heir")
      await heir.begin()
      await heir.commit()
      try await stage.readOffset()
    }
  }

  static let lostAnswers: [Schedule] = [
    lostAnswer(.addPartitions), lostAnswer(.produce), lostAnswer(.endTransaction, of: ": NONE"),
    lostAnswerOfOffsets(.addOffsets, of: ": NONE"), lostAnswerOfOffsets(.transactionOffsets),
    withProducer(
      "the answer to EndTxn of an abort is lost", holding: .endTransaction,
      ends: ["the held request arrives: NONE", "t: b"]
    ) { stage, p in
      await p.begin()
      await p.send("a")
      await stage.holding { await p.abort() }
      await stage.arrival()
      await p.transaction("b")
    },
    Schedule(
      "the answer to InitProducerId is lost", holding: .initProducerID, ends: ["the held request arrives", "t: a"]
    ) { stage in
      try await stage.topic()
      await stage.kafka.hold(true)
      let p = try await stage.producer()
      await stage.kafka.hold(false)
      await stage.arrival()
      await p.transaction("a")
      await stage.read()
    },
  ]

  private static func lostAnswer(_ kind: RequestKind, of answer: String = "") -> Schedule {
    withProducer(
      "the answer to \(kind.rawValue) is lost", holding: kind,
      ends: ["the held request arrives\(answer)", "p has an unanswered request: true", "t: a b"]
    ) { stage, p in
      await stage.holding { await p.transaction("a") }
      await stage.arrival()
      await p.transaction("b")
      p.noteUnanswered()
    }
  }

  private static func lostAnswerOfOffsets(_ kind: RequestKind, of answer: String = "") -> Schedule {
    Schedule(
      "the answer to \(kind.rawValue) is lost", holding: kind,
      ends: ["the held request arrives\(answer)", "offset of t: 1"]
    ) { stage in
      try await stage.topic()
      let m = try await stage.member("m")
      await m.assigned(1)
      let p = try await stage.producer()
      await p.begin()
      await stage.holding { await p.sendOffset(1, of: m) }
      await stage.arrival()
      await p.commit()
      try await stage.readOffset()
    }
  }
}
