// Operates a running worker with the built command line: lists, requeues and discards dead letters, and replays a range
// of records, plainly and with --reapply.

import AppStore
import AppStoreSigning
import KafkaClient
import MillraceRecords
import ScenarioRig

extension CrashTest {
  /// The reason of the dead letters for notifications that the endpoint refuses.
  static let refusal = "refused"

  func operate(using random: inout SeededGenerator) async throws -> String {
    endpoint.setUnreliable(false)
    try await send(120)
    let refused = try Operating.Refused(among: sent, using: &random)
    endpoint.refuse(refused.all)
    try await workers.start(1)
    let (ids, timers) = (Set(sent.keys), Set(sent.filter(\.value).keys))
    try await wait(for: "refused notifications to become dead letters, and the others to be handled") {
      refused.all.isSubset(of: observer.dead) && ids.subtracting(refused.all).isSubset(of: observer.answered)
        && timers.subtracting(refused.all).isSubset(of: observer.reminded)
    }
    say("\(refused.all.count) of \(sent.count) notifications were refused and are dead letters")
    let operating = try await Operating(self, refused)
    let letters = try await operating.look()
    try await operating.settle(letters)
    try await settle()
    let range = try await operating.sendAgain(using: &random)
    try await operating.audit(range)
    return """
      \(await operating.commands.count) commands: \(letters.count) dead letters, \(letters.count - 1) of them requeued, \
      \(range.count) records replayed twice
      """
  }
}

struct Operating: Sendable {
  /// The notifications that the endpoint refuses at first.
  struct Refused: Sendable {
    /// Requeued alone.
    var first: String
    /// Discarded.
    var unwanted: String
    /// Requeued together, by their reason.
    var others: Set<String>

    var all: Set<String> { others.union([first, unwanted]) }

    init(among sent: [String: Bool], using random: inout SeededGenerator) throws {
      let effects = sent.filter(\.value).keys.sorted().shuffled(using: &random)
      let quiet = sent.filter { !$0.value }.keys.sorted().shuffled(using: &random)
      guard effects.count >= 4, quiet.count >= 2 else { throw RunError("too few notifications to refuse some") }
      (first, unwanted, others) = (effects[0], effects[1], Set(effects[2..<4] + quiet[..<2]))
    }
  }

  /// The original position of a notification.
  struct Place: Sendable {
    var partition: TopicPartition
    var offset: Int64
    /// The purchase.
    var key: String
    /// The number of handler runs until success. Some notifications fail on the first attempt.
    var runs: Int

    init(_ record: ConsumerRecord) {
      partition = TopicPartition(topic: record.topic, partition: record.partition)
      offset = record.offset
      key = String(decoding: record.key ?? [], as: UTF8.self)
      runs = record.text("ce_type")?.hasSuffix(".DID_FAIL_TO_RENEW") == true ? 2 : 1
    }
  }

  static let author = "ann"
  static let reason = "mended"
  let test: CrashTest
  let commands: OperatorCommands
  let refused: Refused
  /// The positions, by notification.
  let places: [String: Place]

  init(_ test: CrashTest, _ refused: Refused) async throws {
    (self.test, self.refused) = (test, refused)
    commands = OperatorCommands(test.deployment)
    var places: [String: Place] = [:]
    for record in try await test.deployment.log.everything(in: test.topics.inputs) {
      if let id = record.text("ce_id") { places[id] = Place(record) }
    }
    self.places = places
  }

  /// Records a violated expectation, to be reported at the end.
  func expect(_ holds: Bool, _ sentence: @autoclosure () -> String) async {
    if !holds { await test.fault(sentence()) }
  }

  func expect(_ answer: OperatorCommands.Answer, endsWith status: Int32, saying words: String, _ what: String) async {
    await expect(answer.status == status, "\(what) ended with \(answer.status), expected \(status): \(answer.notes)")
    await expect(answer.notes.contains(words), "\(what) did not say “\(words)”: \(answer.notes)")
  }

  func place(of id: String) throws -> Place {
    guard let place = places[id] else { throw RunError("\(id) was sent but is in no topic") }
    return place
  }

  // MARK: - Lists

  /// Checks the output of the lists and of one dead letter.
  /// - Returns: The IDs of dead letters by notification.
  func look() async throws -> [String: String] {
    let worker = CrashTest.worker
    let groups = try await commands.run(["dead-letters", "list"])
    await expect(groups.status == 0, "dead-letters list ended with \(groups.status): \(groups.notes)")
    let count = Int64(refused.all.count)
    await expect(
      groups.lines.count == 1 && groups.lines.first?.text("worker") == worker
        && groups.lines.first?.text("reason") == CrashTest.refusal && groups.lines.first?.number("open") == count
        && groups.lines.first?.number("count") == count,
      "dead-letters list does not have one group of \(count) open letters: \(groups.text)")
    let list = try await commands.run(["dead-letters", "list", "--worker", worker, "--open", "--each"])
    await expect(list.status == 0, "dead-letters list --each ended with \(list.status): \(list.notes)")
    var letters: [String: String] = [:]
    for line in list.lines {
      guard let id = line.text("notificationId"), let letter = line.text("id"), let place = places[id] else {
        await test.fault("dead-letters list --each has a line for an unknown notification: \(line.line)")
        continue
      }
      letters[id] = letter
      await expect(
        line.text("state") == "open" && line.text("reason") == CrashTest.refusal
          && line.text("detail")?.contains(id) == true && line.text("topic") == place.partition.topic
          && line.number("partition") == Int64(place.partition.partition) && line.number("offset") == place.offset,
        "wrong line in dead-letters list --each for \(id) in \(place.partition) at \(place.offset): \(line.line)")
    }
    guard Set(letters.keys) == refused.all, list.lines.count == refused.all.count else {
      throw RunError("dead-letters list --each has \(list.lines.count) letters, expected the \(count) refused ones")
    }
    try await show(refused.first, letters)
    return letters
  }

  private func show(_ id: String, _ letters: [String: String]) async throws {
    let letter = try letter(of: id, letters)
    let (worker, key) = (CrashTest.worker, try place(of: id).key)
    let sheet = try await commands.run(["dead-letters", "show", letter, "--worker", worker])
    let line = sheet.lines.first ?? [:]
    await expect(
      sheet.status == 0 && sheet.lines.count == 1 && line.text("id") == letter && line.text("worker") == worker
        && line.text("notificationId") == id && line.number("attempts") == 1
        && line.text("wayBack")?.hasPrefix("millrace dead-letters requeue \(letter) --worker \(worker)") == true,
      "unexpected output of dead-letters show \(letter): \(sheet.text) \(sheet.notes)")
    await expect(!sheet.text.contains(key), "dead-letters show \(letter) shows the purchase without --payload")
    let whole = try await commands.run(["dead-letters", "show", letter, "--worker", worker, "--payload"])
    await expect(
      whole.status == 0 && whole.text.contains(key), "dead-letters show \(letter) --payload has no payload")
  }

  private func letter(of id: String, _ letters: [String: String]) throws -> String {
    guard let letter = letters[id] else { throw RunError("\(id) has no dead letter") }
    return letter
  }

  // MARK: - Settling

  /// Requeues one, discards one and requeues the rest by their reason. Later commands for the same letters must have no
  /// effect.
  func settle(_ letters: [String: String]) async throws {
    let (test, refused) = (test, refused)
    let (first, unwanted) = (try letter(of: refused.first, letters), try letter(of: refused.unwanted, letters))
    // The others are still refused and must not be requeued with it.
    test.endpoint.refuse(refused.all.subtracting([refused.first]))
    try await carryOut("requeue", [first], named: [first])
    try await waitForEvents(of: [refused.first])
    try await comeSecond("requeue", first, status: "sent again")
    try await comeSecond("discard", first, status: "sent again")
    let unknown = try await ask("requeue", ["0/999999"], by: Self.author)
    await expect(unknown, endsWith: 64, saying: "has no such dead letter", "a requeue of an unknown letter")

    try await carryOut("discard", [unwanted], named: [unwanted])
    await test.discard(refused.unwanted)
    try await comeSecond("requeue", unwanted, status: "discarded")

    test.endpoint.refuse([])
    try await carryOut(
      "requeue", ["--reason", CrashTest.refusal], named: try refused.others.map { try letter(of: $0, letters) })
    try await waitForEvents(of: refused.others)
    try await lookAgain(letters)
    test.say("\(letters.count - 1) of them requeued, one discarded, each once")
  }

  private func ask(_ verb: String, _ which: [String], by author: String) async throws -> OperatorCommands.Answer {
    try await commands.run(
      ["dead-letters", verb] + which
        + ["--worker", CrashTest.worker, "--why", Self.reason, "--by", author, "--wait", "2m"])
  }

  private func carryOut(_ verb: String, _ which: [String], named letters: [String]) async throws {
    let answer = try await ask(verb, which, by: Self.author)
    let words = verb == "requeue" ? "sent again" : "discarded"
    await expect(answer, endsWith: 0, saying: "\(letters.count) \(words).", "\(verb) \(which)")
    for event in ["accepted", "done"] {
      let items = answer.lines.filter { $0.text("event") == event }.compactMap { $0.text("item") }
      await expect(
        items.sorted() == letters.map { "dead-letters/\($0)" }.sorted(),
        "\(verb) \(which) reports \(event) for \(items), expected \(letters)")
    }
    await expect(
      answer.lines.count == 2 * letters.count && answer.lines.allSatisfy { $0.text("action") == verb },
      "unexpected further output of \(verb) \(which): \(answer.text)")
  }

  private func comeSecond(_ verb: String, _ letter: String, status: String) async throws {
    let answer = try await ask(verb, [letter], by: "bob")
    await expect(answer, endsWith: 1, saying: ", 1 superseded.", "\(verb) of \(letter), which is settled,")
    let line = answer.lines.first ?? [:]
    await expect(
      answer.lines.count == 1 && line.text("event") == "lost" && line.text("item") == "dead-letters/\(letter)"
        && line.text("by") == Self.author && line.text("why") == Self.reason && line.text("status") == status,
      "\(verb) of \(letter), which is settled, printed: \(answer.text)")
  }

  private func waitForEvents(of ids: Set<String>) async throws {
    try await test.wait(for: "the events of the requeued letters") {
      ids.isSubset(of: test.observer.answered)
    }
  }

  private func lookAgain(_ letters: [String: String]) async throws {
    let open = try await commands.run(["dead-letters", "list", "--worker", CrashTest.worker, "--open", "--each"])
    await expect(open, endsWith: 0, saying: "No dead letters.", "dead-letters list --open, after all are settled,")
    await expect(open.lines.isEmpty, "dead letters are still open: \(open.text)")
    let list = try await commands.run(["dead-letters", "list", "--worker", CrashTest.worker, "--each"])
    var states: [String: String] = [:]
    for line in list.lines { states[line.text("id") ?? ""] = "\(line.text("state") ?? "") by \(line.text("by") ?? "")" }
    var expected: [String: String] = [:]
    for (id, letter) in letters {
      expected[letter] = "\(id == refused.unwanted ? "discarded" : "sent again") by \(Self.author)"
    }
    await expect(states == expected && list.lines.count == expected.count, "settled letters are listed as \(list.text)")
    let runs = test.endpoint.runs
    for id in refused.all {
      let count = id == refused.unwanted ? 1 : 1 + (try place(of: id).runs)
      await expect(runs[id] == count, "the handler of \(id) ran \(runs[id] ?? 0) times, expected \(count)")
    }
  }
}
