// The section about webhooks: what it counts, and when it is absent.

import AppStore
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceWorker
import Testing

@testable import Console

@Suite struct WebhookRowTests {
  private let now = Deployment.now

  private func topics() throws -> ConsoleTopics {
    let configuration = Deployment.configuration { $0.workers["webhook-crm"] = WorkerEntry() }
    return ConsoleTopics(try TopicCatalog.load(configuration), configuration)
  }

  private func page(_ tables: ConsoleTables) -> String {
    let visitor = Visitor(name: "ada", mayAct: false)
    return OverviewView(
      state: tables.overview(now: now, wallTime: now),
      context: PageContext(visitor: visitor, allowsActions: false, showsPayloads: false)
    ).page.text
  }

  @Test func `a webhook reads the events of the other workers`() throws {
    let topics = try topics()
    #expect(
      topics.inputs(of: "webhook-crm") == [
        "appstore.events.consumption", "appstore.events.refunds", "appstore.events.renewal-extensions",
        "millrace.webhook-crm.replay",
      ])
    #expect(!topics.inputs(of: "refunds").contains { $0.hasPrefix("appstore.events.") })
    #expect(topics.webhooks == ["webhook-crm"])
  }

  @Test func `the section counts what the webhook has processed, what is behind, and what it gave up`() throws {
    let topics = try topics()
    var tables = ConsoleTables(topics, deadLetters: 10)
    tables.begin(reading: [], at: now)
    var facts = ClusterFacts()
    facts.topics = Dictionary(uniqueKeysWithValues: topics.kinds.keys.map { ($0, 4) })
    let (events, retry) = ("appstore.events.refunds", "millrace.webhook-crm.retry.1m")
    facts.ranges = [
      TopicPartition(topic: events, partition: 0): 10..<30, TopicPartition(topic: retry, partition: 0): 0..<5,
    ]
    facts.committed["webhook-crm"] = [
      TopicPartition(topic: events, partition: 0): 25, TopicPartition(topic: retry, partition: 0): 3,
    ]
    tables.learn(facts)
    func control(_ verb: RunVerb, of worker: String) -> ConsumerRecord {
      let control = RunControl(run: WorkerPause.run(of: worker), verb, by: "ada", at: now)
      return OperationsRecord.control(control).producerRecord("millrace.operations").read()
    }
    tables.apply(
      [
        Written.deadLetter("n1", key: "1", worker: "webhook-crm", lane: 0, at: now).read(),
        Written.deadLetter("n2", key: "2", lane: 0, at: now).read(),
        control(.pause, of: "webhook-crm"), control(.pause, of: "refunds"),
      ], now: now, wallTime: now)
    let row = try #require(tables.overview(now: now, wallTime: now).webhooks.first)
    #expect(row.name == "crm" && row.processed == 15 && row.behind == 5 && row.dead == 1 && row.isPaused)
    #expect(page(tables).contains("paused</span>"))
    tables.apply([control(.resume, of: "webhook-crm")], now: now, wallTime: now)
    #expect(tables.overview(now: now, wallTime: now).webhooks.map(\.isPaused) == [false])
  }

  @Test func `without webhooks there is no section`() throws {
    var tables = ConsoleTables(try Deployment.topics(), deadLetters: 10)
    tables.begin(reading: [], at: now)
    #expect(tables.overview(now: now, wallTime: now).webhooks.isEmpty)
    #expect(!page(tables).contains("id=\"webhooks\""))
  }
}
