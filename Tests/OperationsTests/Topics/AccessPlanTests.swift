import MillraceCore
import MillraceRecords
import TestEnvironment
import Testing

@testable import Operations

@Suite struct AccessPlanTests {
  /// Workers of every kind.
  private static let workers = [
    DeployedWorker(
      name: "subscriptions", process: "millrace-subscriptions",
      inputs: ["t-appstore.notifications.subscriptions", "t-millrace.subscription-imports"]),
    DeployedWorker(
      name: "refunds", process: "millrace-refunds",
      inputs: ["t-appstore.notifications.refunds", "t-appstore.transactions.refunds"]),
    DeployedWorker(
      name: "decoder", process: "millrace-decoder",
      inputs: NotificationFamily.all.map { "t-" + $0.topic } + ["t-appstore.transactions.refunds"]),
    DeployedWorker(
      name: "consumption", process: "millrace-consumption", inputs: ["t-appstore.notifications.consumption-requests"]),
    DeployedWorker(name: "forward-old", process: "millrace-forward", inputs: ["t-appstore.notifications.refunds"]),
    DeployedWorker(name: "forward-new", process: "millrace-forward", inputs: ["t-appstore.notifications.consent"]),
    DeployedWorker(name: "webhook-crm", process: "millrace-worker", inputs: ["t-appstore.events.refunds"]),
    DeployedWorker(foreign: "winback"),
  ]
  private let catalog: TopicCatalog
  private let plan: AccessPlan

  init() throws {
    catalog = try TopicCatalog.load(
      directory: Project.path("topics"), prefix: "t-", lanes: 2, workers: Self.workers.map { .init(name: $0.name) })
    plan = try AccessPlan(workers: Self.workers, catalog: catalog, prefix: "t-")
  }

  /// The rights of every process, also of operators' commands.
  private func everything() throws -> [ProcessAccess] {
    let commands = ProcessRights.table.filter { $0.kind == .command }.flatMap(\.processes)
    return try plan.processes(plan.deployed + commands)
  }

  private func may(
    _ process: ProcessAccess, _ operation: ACLEntry.Operation, _ topic: String, always: Bool = false
  ) -> Bool {
    let wanted = ACLEntry(pattern: .init(resource: .topic, name: topic, isPrefix: false), operation: operation)
    return process.sections.filter { !always || $0.condition == nil }
      .contains { $0.entries.contains { $0.covers(wanted) } }
  }

  private func access(_ process: String) throws -> ProcessAccess {
    try #require(try plan.processes([process]).first)
  }

  @Test func `each worker may use all of its own topics, and no other process may write them`() throws {
    let all = try everything()
    for worker in Self.workers {
      let own = catalog.topics.map(\.topic).filter { $0.hasPrefix("t-millrace.\(worker.name).") }
      #expect(own.count >= 4, "\(worker.name)")
      let process = try access(worker.process)
      for topic in own {
        for operation in [ACLEntry.Operation.read, .write, .describeConfigs] {
          #expect(may(process, operation, topic, always: true), "\(worker.process) \(operation) \(topic)")
        }
        #expect(all.filter { may($0, .write, topic) }.map(\.process) == [worker.process], "\(topic)")
      }
      #expect(may(process, .write, "t-appstore.events.\(worker.name)", always: true))
      for topic in worker.inputs ?? NotificationFamily.all.map({ "t-" + $0.topic }) {
        #expect(may(process, .read, topic, always: true) && may(process, .describeConfigs, topic), "\(topic)")
      }
    }
  }

  @Test func `every topic has a process that may write it, and one that may read it`() throws {
    let all = try everything()
    for topic in catalog.topics.map(\.topic) {
      // Your systems write the answers.
      let isYours = topic == "t-appstore.consumption-answers"
      #expect(all.contains { may($0, .write, topic) } == !isYours, "\(topic)")
      #expect(all.contains { may($0, .read, topic) }, "\(topic)")
    }
  }

  @Test func `a worker reads its families, and all of them by one pattern`() throws {
    #expect(!may(try access("millrace-refunds"), .read, "t-appstore.notifications.consent"))
    let read = try access("millrace-decoder").sections.flatMap(\.entries).filter {
      $0.operation == .read && $0.pattern.name.hasPrefix("t-appstore.")
    }
    #expect(read.map(\.pattern.name) == ["t-appstore.notifications.", "t-appstore.transactions.refunds"])
    #expect(read.map(\.pattern.isPrefix) == [true, false])
    let webhooks = try access("millrace-worker")
    #expect(may(webhooks, .read, "t-appstore.events.refunds"))
    #expect(!may(webhooks, .read, "t-appstore.events.decoder"))
    #expect(!may(webhooks, .read, "t-appstore.notifications.refunds"))
  }

  @Test func `a process with several workers has the rights of each`() throws {
    let entries = try access("millrace-forward").sections.flatMap(\.entries)
    #expect(
      entries.filter { $0.pattern.resource == .group }.map(\.pattern.name)
        == ["t-millrace.forward-new", "t-millrace.forward-old"])
    let ids = entries.filter { $0.pattern.resource == .transactionalID }
    #expect(ids.map(\.pattern.name) == ["t-millrace.forward-new.", "t-millrace.forward-old."])
    #expect(ids.allSatisfy { $0.operation == .write && $0.pattern.isPrefix })
  }

  @Test func `what only the code of a worker names is a comment`() throws {
    let winback = try access("winback")
    #expect(winback.unnamed.count == 2 && winback.unnamed[1].contains("outputTopics"))
    #expect(may(winback, .read, "t-appstore.notifications.consent"))
    #expect(try access("millrace-refunds").unnamed == [])
    #expect(try access("millrace-cli-handler").unnamed == ["send --record, reads the topic of the record"])
  }

  @Test func `rights that depend on an option are apart, and repeat none that the process always has`() throws {
    let console = try access("millrace-console")
    #expect(
      console.sections.map(\.condition) == [nil, "with --allow-actions", "with postgres.url", "with alerts.webhook"])
    #expect(may(console, .read, "t-millrace.audit", always: true))
    #expect(!may(console, .write, "t-millrace.audit", always: true) && may(console, .write, "t-millrace.audit"))
    for process in try everything() {
      let entries = process.sections.flatMap(\.entries)
      #expect(Set(entries).count == entries.count, "\(process.process)")
      for (index, section) in process.sections.enumerated() {
        #expect(section.entries == section.entries.sorted())
        let others = (process.sections.first.map { [$0] } ?? []) + [section]
        for entry in section.entries where section.condition == nil || index > 0 {
          #expect(
            !others.flatMap(\.entries).contains { $0 != entry && $0.covers(entry) }, "\(process.process) \(entry)")
        }
      }
    }
  }

  @Test func `without names the plan has the processes that a deployment runs`() throws {
    let names = try plan.processes().map(\.process)
    #expect(
      names == [
        "millrace-ingress", "millrace-subscriptions", "millrace-refunds", "millrace-decoder", "millrace-consumption",
        "millrace-forward",
        "millrace-worker", "winback", "millrace-console", "millrace-backfill", "millrace-topics", "millrace-postgres",
      ])
    #expect(try plan.processes(["winback", "millrace-ingress"]).map(\.process) == ["millrace-ingress", "winback"])
  }

  @Test func `an unknown process is a wrong command line that names --process and the processes`() throws {
    let unknown = try #require(throws: OperationError.self) { try plan.processes(["refunds"]) }
    #expect(unknown.kind == .usage && unknown.place == "--process")
    #expect(unknown.remedy.contains("millrace-refunds, millrace-decoder") && unknown.remedy.contains("cli-replay"))
    let absent = try #require(throws: OperationError.self) { try plan.processes(["millrace-renewal-extensions"]) }
    #expect(absent.what == "no worker of millrace-renewal-extensions is configured")
    #expect(absent.remedy.hasPrefix("add its worker to `workers`"))
  }

  @Test func `a prefix that no topic can have is an error`() throws {
    let error = try #require(throws: OperationError.self) {
      try AccessPlan(workers: [], catalog: catalog, prefix: "a b$(c)")
    }
    #expect(error.place == "topics.prefix")
  }

  @Test func `IdempotentWrite is granted on request, and only to producers`() throws {
    let plan = try AccessPlan(workers: Self.workers, catalog: catalog, prefix: "t-", grantsIdempotentWrite: true)
    let granted = try (plan.processes() + plan.processes(["millrace-cli-audit"])).filter {
      $0.sections.flatMap(\.entries).contains { $0.pattern == .cluster }
    }
    #expect(granted.map(\.process).contains("millrace-ingress"))
    #expect(!granted.map(\.process).contains("millrace-cli-audit"))
    #expect(
      try self.plan.processes().allSatisfy { !$0.sections.flatMap(\.entries).contains { $0.pattern == .cluster } })
  }
}
