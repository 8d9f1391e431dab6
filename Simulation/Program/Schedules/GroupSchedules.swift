// Groups: stale members, rebalances during a commit, names, and sessions that end. And nodes that stop.

internal import KafkaClient
internal import MillraceRecords

extension Schedule {
  static let groups: [Schedule] = [
    Schedule(
      "a member of an old generation in a transaction",
      ends: [
        "p sends offset 9: ILLEGAL_GENERATION, abort", "offset of t: 3", "t: ",
      ]
    ) { stage in
      try await stage.topic(partitions: 2)
      let m = try await stage.member("m")
      await m.assigned(2)
      let stale = try await m.metadata()
      let n = try await stage.member("n")
      await n.assigned(1)
      await m.assigned(1, after: 2)
      let p = try await stage.producer()
      await p.begin()
      await p.send("zombie")
      await p.sendOffset(9, stale)
      await p.abort()
      await p.begin()
      await p.sendOffset(3, of: m)
      await p.commit()
      try await stage.readOffset()
      await stage.read()
    },
    Schedule(
      "a member that has left in a transaction",
      ends: [
        "p sends offset 9: UNKNOWN_MEMBER_ID, abort", "offset of t: none",
      ]
    ) { stage in
      try await stage.topic()
      let m = try await stage.member("m")
      await m.assigned(1)
      let stale = try await m.metadata()
      await m.stop()
      let p = try await stage.producer()
      await p.begin()
      await p.sendOffset(9, stale)
      await p.abort()
      try await stage.readOffset()
    },
    // `millrace topics relane` commits offsets of groups that it does not join.
    Schedule("offsets of a group that the client has not joined", ends: ["offset of t: 9"]) { stage in
      try await stage.topic()
      let stranger = try stage.log.makeReader(group: stage.full("g"), topics: [], options: LogReaderOptions())
      let p = try await stage.producer()
      await p.begin()
      await p.sendOffset(3, try await stranger.groupMetadata())
      await p.commit()
      let m = try await stage.member("m")
      await m.assigned(1)
      await p.begin()
      await p.sendOffset(9, try await stranger.groupMetadata())
      await p.commit()
      try await stage.readOffset()
    },
    Schedule("a transaction commits during a rebalance", ends: ["offset of t: 5", "t: a"]) { stage in
      try await stage.topic(partitions: 2)
      let m = try await stage.member("m", completes: false)
      await m.assigned(2)
      let p = try await stage.producer()
      await p.begin()
      await p.send("a")
      let n = try await stage.member("n")
      await m.revoked()
      await p.sendOffset(5, of: m)
      await p.commit()
      m.completeRevocation()
      await n.assigned(1)
      try await stage.readOffset()
      await stage.read()
    },
    Schedule("offsets of a transaction from before a rebalance", ends: ["offset of t: 5", "t: a"]) { stage in
      try await stage.topic(partitions: 2)
      let m = try await stage.member("m")
      await m.assigned(2)
      let p = try await stage.producer()
      await p.begin()
      await p.send("a")
      await p.sendOffset(5, of: m)
      let n = try await stage.member("n")
      await n.assigned(1)
      await p.commit()
      try await stage.readOffset()
      await stage.read()
    },
    Schedule("a member commits after the offsets of a transaction that ends later", ends: ["offset of t: 7"]) { stage in
      try await stage.topic()
      let m = try await stage.member("m")
      await m.assigned(1)
      let p = try await stage.producer()
      await p.begin()
      await p.sendOffset(5, of: m)
      await m.commit(7)
      await p.commit()
      try await stage.readOffset()
    },
    Schedule("a member commits during a rebalance", ends: ["offset of t: 5"]) { stage in
      try await stage.topic(partitions: 2)
      let m = try await stage.member("m", completes: false)
      await m.assigned(2)
      let n = try await stage.member("n")
      await m.revoked()
      await m.commit(5)
      m.completeRevocation()
      await n.assigned(1)
      try await stage.readOffset()
    },
    Schedule("another member takes a name", ends: ["m ends: FENCED_INSTANCE_ID", "offset of t: 2"]) { stage in
      try await stage.topic()
      let m = try await stage.member("m", instance: "i")
      await m.assigned(1)
      let n = try await stage.member("n", instance: "i")
      await n.assigned(1)
      await n.commit(2)
      await m.noteEnd()
      try await stage.readOffset()
    },
    Schedule(
      "a member without its name in a transaction",
      ends: [
        "p sends offset 9: FENCED_INSTANCE_ID, abort", "offset of t: none",
      ]
    ) { stage in
      try await stage.topic()
      let m = try await stage.member("m", instance: "i")
      await m.assigned(1)
      let stale = try await m.metadata()
      let n = try await stage.member("n", instance: "i")
      await n.assigned(1)
      let p = try await stage.producer()
      await p.begin()
      await p.sendOffset(9, stale)
      await p.abort()
      try await stage.readOffset()
    },
    Schedule(
      "a session ends during a silence",
      ends: [
        "p sends offset 9: UNKNOWN_MEMBER_ID, abort", "offset of t: 4",
      ]
    ) { stage in
      try await stage.topic()
      let m = try await stage.member("m")
      await m.assigned(1)
      let stale = try await m.metadata()
      let p = try await stage.producer()
      await stage.kafka.silence(.seconds(12))
      await m.lost()
      await m.assigned(1, after: 2)
      await p.begin()
      await p.sendOffset(9, stale)
      await p.abort()
      await m.commit(4)
      try await stage.readOffset()
    },
    Schedule(
      "committed offsets are unknown while a transaction may change them",
      ends: [
        "read: _TIMED_OUT, retry", "offset of t: 2",
      ]
    ) { stage in
      try await stage.topic()
      let m = try await stage.member("m")
      await m.assigned(1)
      await m.commit(1)
      let p = try await stage.producer()
      await p.begin()
      await p.sendOffset(2, of: m)
      await stage.call("read") { _ = try await m.reader.committed([stage.partition("t")], timeout: .seconds(2)) }
      await p.commit()
      try await stage.readOffset()
    },
    Schedule("a topic that is created again loses its offset", ends: ["offset of t: none"]) { stage in
      try await stage.topic()
      let m = try await stage.member("m")
      await m.assigned(1)
      await m.commit(1)
      await m.stop()
      try await stage.kafka.recreate(stage.full("t"))
      await stage.kafka.wait(.seconds(2))
      try await stage.readOffset()
    },
  ]

  static let nodes: [Schedule] = [
    Schedule("the coordinator of a transaction stops before the commit", ends: ["t: a b"]) { stage in
      try await stage.topic()
      let p = try await stage.producer()
      await p.begin()
      await p.send("a")
      await stage.kafka.stopNode(of: .transactions(stage.full("p")))
      await p.commit()
      await p.transaction("b")
      await stage.read()
      await stage.kafka.startNodes()
    },
    Schedule(
      "the coordinator of a transaction moves, and another producer takes the id",
      ends: [
        "p commits: _FENCED, fatal", "t: b",
      ]
    ) { stage in
      try await stage.topic()
      let p = try await stage.producer()
      await p.begin()
      await p.send("a")
      await stage.kafka.stopNode(of: .transactions(stage.full("p")))
      let heir = try await stage.producer("p", as: "heir")
      await heir.transaction("b")
      await p.commit()
      await stage.read()
      await stage.kafka.startNodes()
    },
    Schedule("the leader of a partition stops within a transaction", ends: ["t: a b"]) { stage in
      try await stage.topic()
      let p = try await stage.producer()
      await p.begin()
      await p.send("a")
      await stage.kafka.stopNode(of: .leader(stage.partition("t")))
      await p.send("b")
      await p.commit()
      await stage.read()
      await stage.kafka.startNodes()
    },
    Schedule("the coordinator of a group stops within a transaction", ends: ["offset of t: 3"]) { stage in
      try await stage.topic()
      let m = try await stage.member("m")
      await m.assigned(1)
      let p = try await stage.producer()
      await p.begin()
      await p.sendOffset(3, of: m)
      await stage.kafka.stopNode(of: .group(stage.full("g")))
      await p.commit()
      try await stage.readOffset()
      await stage.kafka.startNodes()
    },
  ]
}
