// Every page, with hostile text in every place that shows data from a record.

import AppStore
import AppStoreSigning
import KafkaClient
import MillraceRecords
import MillraceWorker
@testable import Operations

@testable import Console

struct HostilePages {
  var all: [HTML] = []

  init(_ random: inout SeededGenerator) throws {
    let topics = try Deployment.topics()
    var tables = ConsoleTables(topics, deadLetters: 100)
    tables.begin(reading: [], at: Deployment.now)
    func text() -> String { Hostile.text(&random) }

    var records: [ConsumerRecord] = []
    for offset in 0..<10 {
      records.append(
        Written.deadLetter(
          text(), key: text(), reason: text(), detail: text(), bundleId: text(), at: Deployment.now
        ).read(offset: Int64(offset)))
      records.append(
        Written.notification(text(), key: text(), type: text(), at: Deployment.now).read(offset: Int64(offset)))
      records.append(
        Written.notification(
          text(), key: text(), type: text(), family: "consumption-requests", at: Deployment.now
        ).read(offset: Int64(offset)))
      records.append(
        Written.event(text(), worker: "refunds", key: text(), about: text(), at: Deployment.now).read(
          offset: Int64(offset)))
      let audit = AuditRecord(
        run: text(), .init(rawValue: text()), .started(parts: 1), by: text(), source: text(), at: Deployment.now,
        why: text(), target: text())
      records.append(audit.producerRecord(prefix: "").read(offset: Int64(offset)))
      let command = OperationsRecord.command(
        OperationCommand(
          id: text(), item: text(), worker: text(), lane: 0,
          action: .replay(ReplayPart(topic: text(), from: 0, to: 10)), why: text(), by: text(),
          at: Deployment.now))
      records.append(
        ProducerRecord(topic: "millrace.operations", key: command.key, value: command.json.serialized()).read(
          offset: Int64(offset)))
    }
    tables.apply(records, now: Deployment.now, wallTime: Deployment.now)
    for (part, words) in [(text(), text())] { tables.report(words, of: part) }
    tables.reportHistory(text())
    var facts = ClusterFacts()
    facts.topics = Dictionary(uniqueKeysWithValues: topics.kinds.keys.map { ($0, 4) })
    facts.at = Deployment.now
    tables.learn(facts)

    let visitor = Visitor(name: text(), mayAct: true)
    let context = PageContext(visitor: visitor, allowsActions: true, showsPayloads: true)
    all.append(
      OverviewView(state: tables.overview(now: Deployment.now, wallTime: Deployment.now), context: context).page)
    var query = DeadLetterQuery(FormFields(""))
    query.status = .all
    let page = tables.deadLetters.page(query, from: 0, count: 50)
    query.text = text()
    query.worker = text()
    let listing = DeadLetterListing(
      query: query, start: 3, page: page, workers: [text()], reasons: [text()], apps: [text()], dropped: 4,
      isCaughtUp: false, now: Deployment.now)
    all.append(DeadLetterListView(listing: listing, context: context).page)
    all.append(
      DecisionView(
        decision: .discard, letters: page.letters, rest: 2, token: "1-ab", now: Deployment.now, context: context
      ).page
    )
    all.append(
      DecisionOutcomeView(
        decision: .requeue,
        outcomes: page.letters.map { DecisionOutcome(key: $0.key, words: text(), tone: .bad) }, context: context
      ).page)
    for record in records {
      guard var entry = DeadLetterEntry(record, of: text()) else { continue }
      (entry.attempts, entry.subject, entry.answer) = (1, text(), text())
      all.append(
        DeadLetterView(
          entry: entry, record: RecordView(record), isKept: true, payload: text(), now: Deployment.now, context: context
        ).page)
    }
    for line in tables.auditLines(at: Deployment.now).prefix(3) {
      let counts = RunStatus.Counts(worker: text(), json: ["records": 1, "new": 1])
      for counts in [RunCounts.known([counts]), .unknown(text())] {
        all.append(
          RunView(run: RunSummary(line), counts: counts, token: "1-ab", now: Deployment.now, context: context).page)
      }
    }
    var inventory = QuarantineInventory()
    for offset in 0..<3 {
      var record = QuarantineRecord(
        value: Array(text().utf8), version: .v2, reason: .chain, receivedAt: Deployment.now
      ).producerRecord(topic: QuarantineRecord.topic)
      record.headers.append(RecordHeader("ce_reason", text()))
      inventory.add(record.read(offset: Int64(offset)))
    }
    var quarantine = QuarantineListing(
      inventory, QuarantineQuery(FormFields("")), from: 0, count: 50, now: Deployment.now)
    for index in quarantine.entries.indices {
      (quarantine.entries[index].type, quarantine.entries[index].bundleId) = (text(), text())
      quarantine.entries[index].environment = text()
    }
    (quarantine.reasons, quarantine.apps, quarantine.query.reason) = ([text()], [text()], text())
    all.append(QuarantineListView(listing: quarantine, context: context).page)
    all.append(
      ResubmissionView(
        entries: quarantine.entries, rest: 1, token: "1-ab", now: Deployment.now, context: context
      ).page)
    for entry in quarantine.entries {
      all.append(
        QuarantineBodyView(
          entry: entry, record: records[0], payload: text(), now: Deployment.now, context: context
        ).page)
    }
    all.append(
      ResubmissionOutcomeView(
        outcomes: quarantine.entries.map { entry in
          ResubmissionOutcome(id: entry.id, result: .refused(Refusal(.chain, .retryLater, text())))
        }, context: context
      ).page)
    var deliveries = records.compactMap { WebhookDelivery($0) }
    for (index, state) in [WebhookDelivery.State.delivered(status: 200), .waiting(attempts: 1), .dead].enumerated()
    where deliveries.indices.contains(index) { deliveries[index].state = state }
    all.append(
      WebhookView(worker: "webhook-" + text(), deliveries: deliveries, now: Deployment.now, context: context).page)
    for delivery in deliveries.prefix(4) {
      all.append(
        DeliveryView(
          worker: "webhook-" + text(), delivery: delivery, failures: FailedPosts(causes: [text()], answer: text()),
          payload: text(), token: "1-ab",
          now: Deployment.now, context: context
        ).page)
    }
    all.append(ResendView(worker: "webhook-" + text(), run: text(), context: context).page)
    let timeline = TimelineView(subject: text(), days: 30, context: context)
    let teller = TimelineBuilder(topics: topics, subject: "", showsPayloads: true)
    var lines: [HTML] = []
    for record in records {
      guard let source = teller.sources[record.topic] else { continue }
      var own = record
      own.key = []
      if var entry = teller.entry(own, of: source) {
        entry.payload = text()
        lines.append(timeline.line(entry))
      }
    }
    let state = CustomerState(
      key: text(), row: ["status": .string(text()), "entitledUntil": .string(text())], erasedAt: Deployment.now)
    let start = timeline.start(state, relation: text(), now: Deployment.now)
    all.append("\(timeline.beginning)\(timeline.choice([text(), text()], relation: text()))")
    all.append(
      "\(timeline.beginning)\(start)\(lines)\(timeline.progress(1, 2))\(timeline.broken(text(), inList: true))")
    all.append(timeline.question)
    all.append(Layout.problem(text(), "\(text())", context))
  }
}
