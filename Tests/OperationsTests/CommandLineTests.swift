// Tests of the built binary: exit codes, output formats and signals. Other tests cover what the commands decide.

import AppStore
import AppStoreSigning
import Foundation
import KafkaClient
import MillraceCore
import TestEnvironment
import Testing

@testable import Operations
import MillraceRecords

@Suite("The millrace command line", .timeLimit(.minutes(15)))
struct CommandLineTests {
  private let fixture: Fixture

  init() throws { fixture = try Fixture() }

  @Test("every command's help has examples")
  func help() async throws {
    let commands = [
      ["verify"], ["listen"], ["topics"], ["topics", "plan"], ["topics", "apply"], ["topics", "acls"],
      ["quarantine"],
      ["quarantine", "list"], ["quarantine", "resubmit"], ["config"], ["embedded-cluster"], ["api"],
      ["api", "transaction"], ["api", "history"], ["api", "statuses"], ["api", "refunds"], ["api", "order"],
      ["api", "app-transaction"], ["api", "test-notification"], ["replay"],
      ["replay", "start"], ["replay", "list"], ["replay", "pause"], ["replay", "resume"], ["replay", "stop"],
      ["dead-letters"], ["dead-letters", "list"], ["dead-letters", "show"], ["dead-letters", "requeue"],
      ["dead-letters", "discard"], ["dead-letters", "pause"], ["dead-letters", "resume"], ["dead-letters", "stop"],
      ["new"], ["new", "consumer"], ["compare"],
      ["refunds"], ["refunds", "check"], ["campaigns"], ["campaigns", "list"], ["campaigns", "start"],
      ["campaigns", "show"], ["campaigns", "resolve"], ["campaigns", "cancel"], ["backfill"], ["backfill", "run"],
      ["backfill", "list"], ["backfill", "pause"], ["backfill", "resume"], ["backfill", "stop"], ["doctor"],
      ["status"],
    ]
    for command in commands {
      let result = try await CommandProcess.run(command + ["--help"])
      #expect(result.status == 0, "\(command): \(result.err)")
      #expect(result.out.contains("Examples:") && result.out.contains("millrace \(command[0])"), "\(command)")
      let hasParts = [
        "topics", "quarantine", "api", "dead-letters", "refunds", "campaigns", "replay", "backfill",
      ].contains(
        command[0])
      if command.count == 2 || !hasParts, command[0] != "new" {
        #expect(result.out.contains("--config"), "\(command)")
      }
    }
    #expect(try await CommandProcess.run(["--help"]).out.contains("embedded-cluster"))
  }

  @Test("--version prints the version")
  func version() async throws {
    let result = try await CommandProcess.run(["--version"])
    #expect(result.status == 0 && result.out == MillraceVersion.text + "\n", "\(result.err)")
  }

  @Test("a wrong command line ends with 64 and names the mistake")
  func usage() async throws {
    let table: [([String], String)] = [
      (["verify"], "file"),
      (["verify", "/nonexistent.jws"], "/nonexistent.jws"),
      (["verify", "--kind", "receipt", "-"], "receipt"),
      (["verify", "--root", "/nonexistent.der", "-"], "--root"),
      (["verify", "--environment", "production", "-"], "one of Production, Sandbox"),
      (["listen", "--limit", "0"], "--limit"),
      (["listen", "--family", "nonsense"], "--family"),
      (["quarantine", "resubmit"], "--all"),
      (["timeline", "hello"], "error: hello: not a transaction, order, token or notification id"),
      (["subscriptions", "show", " , "], "not a transaction, order, token or notification id"),
      (["embedded-cluster", "--brokers", "0"], "--brokers"),
      (["api", "history", "1", "--limit", "0"], "--limit"),
      (["api", "history", "1", "--type", "Consumable"], "auto-renewable"),
      (["api", "statuses", "1", "--status", "1"], "grace-period"),
      (["api", "test-notification", "--wait", "0"], "--wait"),
      (["dead-letters", "requeue", "three", "--worker", "w", "--why", "y"], "three"),
      (["dead-letters", "requeue", "3/1", "--worker", "w", "--why", " "], "--why"),
      (["dead-letters", "requeue", "3/1", "--worker", "w", "--why", "y", "--wait", "0s"], "--wait"),
      (["dead-letters", "requeue", "--worker", "w", "--why", "y"], "--all"),
      (["dead-letters", "discard", "3/1", "--reason", "x", "--worker", "w", "--why", "y"], "not both"),
      (["dead-letters", "list", "--limit", "1"], "--each"),
      (["dead-letters", "show", "three", "--worker", "w"], "three"),
      (["replay", "--topic", "t"], "--to-topic"), (["replay", "--worker", "w", "--to-topic", "t"], "--worker"),
      (["replay", "--worker", "w", "--topic", "t", "--rate", "0"], "--rate"),
      (["replay", "--worker", "w", "--topic", "t", "--limit", "0"], "--limit"),
      (["replay", "--worker", "w", "--topic", "t", "--since", "lately"], "--since"),
      (["replay", "--worker", "w", "--topic", "t", "--until", "soon"], "--until"),
      (["replay", "--worker", "w", "--topic", "t", "--from", "-1"], "--from"),
      (["replay", "--worker", "w", "--topic", "t", "--reapply", " "], "--reapply"),
      (["replay", "resume", "x", "--wait", "soon"], "--wait"),
      (["refunds", "check"], "--since"),
      (["refunds", "check", "file", "--since", "7d"], "either"),
      (["refunds", "check", "--since", "lately"], "--since"),
      (["new", "consumer", "winback"], "--millrace-path"),
      (["new", "consumer", "Win Back", "--millrace-path", "."], "Win Back"),
      (["campaigns", "start", "--product", "p", "--days", "7"], "--reason"),
      (["campaigns", "start", "--resume", "x", "--days", "7"], "--resume"),
      (["campaigns", "start", "--resume", "x", "--environment", "Sandbox"], "--resume"),
      (["campaigns", "cancel", "x"], "--why"),
      (["campaigns", "resolve", "x", "three", "--why", "y"], "three"),
      (["backfill"], "--from"),
      (["backfill", "--from", "3d", "--run", "x"], "--run"),
      (["backfill", "--follow", "--from", "3d"], "--follow"),
      (["backfill", "--from", "3d", "--parallel", "0"], "--parallel"),
      (["backfill", "--from", "3d", "--slice", "long"], "--slice"),
      (["backfill", "stop"], "<run>"),
      (["doctor", "--skip", "kafka"], "kafka"),
      (["doctor", "--wait", "0s"], "--wait"),
      (["topics", "acls"], "--format"), (["topics", "acls", "--format", "yaml"], "--format"),
      (["topics", "acls", "--format", "strimzi", "--principal-prefix", "CN="], "--principal-prefix"),
      (["topics", "acls", "--format", "terraform", "--process", "refunds"], "--process"),
      (["nonsense"], "nonsense"), (["listn"], "did you mean `millrace listen`?"),
      (["topics", "aply"], "did you mean `millrace topics apply`?"),
      (["replay", "paus", "1f0c"], "did you mean `millrace replay pause`?"),
      (["listen", "--family", "refund"], "did you mean refunds?"),
      (["replay", "--worker", "w", "--topic", "t", "--type", "refund"], "did you mean REFUND?"),
      (["replay", "--worker", "w", "--topic", "t", "--subtype", "UPGRAD"], "did you mean UPGRADE?"),
      (["replay", "--worker", "w", "--topic", "t", "--environment", "sandbox"], "did you mean Sandbox?"),
      (["replay", "--worker", "w", "--topic", "t", "--from", "1d", "--since", "1d"], "--since"),
      (["dead-letters", "show", "3/1", "--worker", "refund"], "has no worker refund"),
      (["handler", "check", "--worker", "refund"], "has no worker refund"),
      (["dead-letters", "list", "--type", "REFUN"], "did you mean REFUND?"),
      (["listen", "--type", "REFUN"], "did you mean REFUND?"),
      (["listen", "--worker", "refund"], "has no worker refund"),
      (["listen", "--from", "1d", "--since", "1d"], "--since"),
    ]
    for (arguments, part) in table {
      let result = try await CommandProcess.run(arguments, input: Array("a.b.c".utf8))
      #expect(result.status == 64, "\(arguments): \(result.err)")
      #expect(result.err.contains(part), "\(arguments): \(result.err)")
      #expect(result.out.isEmpty, "\(arguments)")
    }
  }

  @Test("every command has the same grammar of times")
  func times() async throws {
    // What each command needs beside the flag. With a configuration that does not exist, a command line that is
    // accepted ends with 78 before anything is connected.
    let replay = ["replay", "--worker", "w", "--topic", "t"]
    let settle = ["3/1", "--worker", "w", "--why", "y"]
    let adopt = ["campaigns", "adopt", "x", "--product", "p", "--days", "7", "--reason", "3", "--why", "y"]
    let flags: [(command: [String], flag: String, forms: Forms)] = [
      (replay, "--from", .offset), (replay, "--since", .time), (replay, "--until", .time), (replay, "--wait", .wait),
      (["replay", "resume", "1f0c", "--here"], "--wait", .wait),
      (["dead-letters", "list"], "--from", .offset), (["dead-letters", "list"], "--since", .time),
      (["dead-letters", "list"], "--until", .time), (["dead-letters", "requeue"] + settle, "--wait", .wait),
      (["dead-letters", "discard"] + settle, "--wait", .wait),
      (["listen"], "--from", .start), (["listen"], "--since", .time), (["timeline", "1"], "--since", .time),
      (["backfill"], "--from", .start),
      (["backfill", "--from", "earliest"], "--to", .time),
      (["api", "history", "1"], "--from", .start), (["api", "history", "1"], "--until", .time),
      (["api", "test-notification"], "--wait", .wait), (["refunds", "check"], "--since", .time),
      (["compare", "-"], "--since", .time), (["compare", "-"], "--until", .time), (adopt, "--since", .time),
      (["campaigns", "resolve", "x", "3/1", "--why", "y"], "--wait", .wait),
      (["privacy", "erase", "--original-transaction-id", "1", "--why", "y"], "--wait", .wait),
      (["doctor"], "--wait", .wait),
    ]
    for (command, flag, forms) in flags {
      for value in forms.valid {
        let result = try await CommandProcess.run(
          command + [flag, value], environment: ["MILLRACE_CONFIG": "/nonexistent.yaml", "USER": "ann"])
        #expect(result.status == 78, "\(command) \(flag) \(value): \(result.err)")
      }
      for value in forms.invalid {
        let result = try await CommandProcess.run(command + [flag, value])
        #expect(result.status == 64, "\(command) \(flag) \(value): \(result.err)")
        #expect(result.err.contains(flag), "\(command) \(flag) \(value): \(result.err)")
      }
    }
  }

  /// The values that a flag accepts.
  private enum Forms {
    case time, start, offset, wait

    var valid: [String] {
      let ages = ["90m", "7d"]
      let times = ["2026-01-31", "2026-01-31T12:00:00Z", "2026-01-31T12:00:00+02:00"]
      switch self {
      case .time: return ages + times
      case .start: return ages + times + ["earliest", "latest"]
      case .offset: return ages + times + ["earliest", "latest", "7"]
      case .wait: return ages + times.map { $0.replacingOccurrences(of: "2026", with: "2999") }
      }
    }

    var invalid: [String] {
      let never = ["lately", "1w", "2026-13-01", "2026-01-31T12:00:00", ""]
      switch self {
      case .time: return never + ["7", "earliest"]
      case .start: return never + ["7"]
      case .offset: return never
      case .wait: return never + ["7", "0s", "2001-01-31", "latest"]
      }
    }
  }

  @Test("without a name, a command that changes something refuses, and a dry run does not")
  func nameless() async throws {
    let environment = ["USER": "", "MILLRACE_CONFIG": "/nonexistent.yaml"]
    let changing: [[String]] = [
      ["replay", "pause", "x"], ["backfill", "--from", "1d"], ["backfill", "stop", "x"],
      ["quarantine", "resubmit", "--all"], ["subscriptions", "import", "-"],
      ["campaigns", "start", "--product", "p", "--days", "1", "--reason", "1"],
      ["webhooks", "pause", "crm"], ["api", "extend", "1", "--days", "1", "--reason", "1", "--why", "y"],
      ["privacy", "erase", "--original-transaction-id", "1", "--why", "y"],
    ]
    for command in changing {
      // The name is asked for before or after the configuration is read.
      let named = try await CommandProcess.run(command + ["--by", "ann"], environment: environment)
      #expect(named.status == 78, "\(command): \(named.err)")
    }
    for command in [["quarantine", "resubmit", "--all"], ["subscriptions", "import", "-"], ["replay", "pause", "x"]] {
      let nameless = try await CommandProcess.run(command, environment: environment)
      #expect(nameless.status == 64 && nameless.err.contains("--by"), "\(command): \(nameless.err)")
    }
    let dry = try await CommandProcess.run(["quarantine", "resubmit", "--all", "--dry-run"], environment: environment)
    #expect(dry.status == 78, "\(dry.err)")
  }

  @Test("topics acls prints the processes of the configured workers, without asking Kafka")
  func acls() async throws {
    let file = fixture.directory.appendingPathComponent("acls.yaml").path
    try """
    kafka: { bootstrapServers: "127.0.0.1:1" }
    topics: { prefix: t-, directory: \(Project.root)/topics }
    workers:
      refunds: {}
      consumption: {}
      forward-old: { settings: { url: "http://127.0.0.1:1/", families: [consent] } }
      mailer:
        families: [subscriptions]
        handler: { url: "http://127.0.0.1:1/", secretFile: "\(file)" }
      winback: {}
    webhooks:
      crm: { url: "http://127.0.0.1:1/", secretFile: "\(file)", workers: [refunds] }
    """.write(toFile: file, atomically: true, encoding: .utf8)
    let result = try await CommandProcess.run(["topics", "acls", "--config", file, "--format", "kafka-acls"])
    #expect(result.status == 0 && result.err.isEmpty, "\(result.err)")
    let processes = result.out.split(separator: "\n").filter { $0.hasPrefix("# millrace-") || $0 == "# winback" }
    #expect(
      processes.map { $0.dropFirst(2) } == [
        "millrace-ingress", "millrace-refunds", "millrace-consumption", "millrace-forward", "millrace-worker",
        "winback", "millrace-console", "millrace-backfill", "millrace-topics", "millrace-postgres",
      ])
    for (process, topic) in [
      ("refunds", "t-appstore.notifications.refunds"), ("refunds", "t-appstore.transactions.refunds"),
      ("consumption", "t-appstore.notifications.consumption-requests"),
      ("forward", "t-appstore.notifications.consent"), ("worker", "t-appstore.notifications.subscriptions"),
      ("worker", "t-appstore.events.refunds"), ("worker", "t-millrace.webhook-crm."),
    ] {
      let line = result.out.split(separator: "\n").first {
        $0.contains("User:millrace-\(process) ") && $0.contains("--topic \(topic)") && $0.contains("--operation Read")
      }
      #expect(line != nil, "\(process) \(topic)")
    }
  }

  @Test("verify prints one JSON object and ends with 0 or 1")
  func verify() async throws {
    let sample = try fixture.sample(.didRenew)
    let path = fixture.directory.appendingPathComponent("body.json").path
    try Data(sample.body).write(to: URL(fileURLWithPath: path))
    for arguments in [[path], ["--bundle-id", fixture.app.bundleId, "--environment", "Production", path]] {
      let result = try await CommandProcess.run(["verify", "--root", fixture.rootPath] + arguments)
      #expect(result.status == 0, "\(result.out)\(result.err)")
      let json = try JSONObject(parsing: Array(result.out.utf8))
      #expect(json["valid"] == true && json.string("inner") == "verified")
      #expect(json.string("notificationType") == "DID_RENEW")
      #expect(result.out.hasSuffix("}\n") && result.err.isEmpty)
    }
    let refused = try await CommandProcess.run(["verify", "-"], input: sample.jws + [UInt8(ascii: "\n")])
    #expect(refused.status == 1)
    let json = try JSONObject(parsing: Array(refused.out.utf8))
    #expect(json["valid"] == false && json.string("reason") == "chain" && json.string("message") != nil)
  }

  @Test("verify takes roots and apps from the given configuration")
  func verifyConfigured() async throws {
    let file = fixture.directory.appendingPathComponent("millrace.yaml").path
    try """
    trust: { roots: ["\(fixture.rootPath)"] }
    apps: [{ bundleId: com.example.other, appAppleId: 1 }]
    """.write(toFile: file, atomically: true, encoding: .utf8)
    let sample = try fixture.sample(.test)
    for environment in [[:], [EffectiveConfiguration.fileVariable: file]] {
      let arguments = environment.isEmpty ? ["--config", file] : []
      let result = try await CommandProcess.run(
        ["verify", "-"] + arguments, input: sample.jws, environment: environment)
      #expect(result.status == 1)
      #expect(try JSONObject(parsing: Array(result.out.utf8)).string("reason") == "app-identifier")
    }
  }

  @Test("config shows every value with its source, and a mistake ends with 78")
  func config() async throws {
    let result = try await CommandProcess.run(["config"], environment: ["MILLRACE_INGRESS_PORT": "8443"])
    #expect(result.status == 0)
    #expect(result.out.contains("8443") && result.out.contains("MILLRACE_INGRESS_PORT"))
    let reference = try await CommandProcess.run(["config", "--reference"])
    let page = try Project.text("docs/configuration.md")
    #expect(page == reference.out, "write it again: millrace config --reference")
    let file = fixture.directory.appendingPathComponent("wrong.yaml").path
    try "kafka: { bootstrapserver: x }\nnonsense: 1\n".write(toFile: file, atomically: true, encoding: .utf8)
    let wrong = try await CommandProcess.run(["config", "--config", file])
    #expect(wrong.status == 78 && wrong.out.isEmpty)
    #expect(wrong.err.split(separator: "\n").count == 2 && wrong.err.contains("wrong.yaml:1"), "\(wrong.err)")
  }

  @Test("a cluster that refuses connections ends the command with one error, without a word of librdkafka")
  func refusedConnection() async throws {
    let result = try await CommandProcess.run(
      ["topics", "plan"],
      environment: [
        "MILLRACE_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1,localhost:2",
        // librdkafka warns about properties of consumers in other clients.
        "MILLRACE_KAFKA_PROPERTIES": "{session.timeout.ms: '9000', fetch.wait.max.ms: '10'}",
      ])
    #expect(result.status == 1)
    let lines = result.err.split(separator: "\n")
    #expect(lines.first == "connecting to 127.0.0.1:1,localhost:2 …" && lines.count == 2, "\(result.err)")
    #expect(lines.last?.hasPrefix("error: ") == true && result.err.contains("Connection refused"), "\(result.err)")
    #expect(!result.err.contains("CONFWARN"), "\(result.err)")
  }

  @Test("a cluster whose name has no address is named at once, with the reason while the command is still trying")
  func unreachableCluster() async throws {
    let command = try CommandProcess(
      ["topics", "plan"], environment: ["MILLRACE_KAFKA_BOOTSTRAP_SERVERS": "nowhere.invalid:9092"])
    #expect(await command.nextErrorLine() == "connecting to nowhere.invalid:9092 …")
    let reason = await command.nextErrorLine()
    #expect(reason.hasPrefix("no answer yet"), "\(reason)")
    #expect(command.process.isRunning)
    command.send(SIGTERM)
    _ = try await command.finish()
  }

  @Test("a worker names the unreachable cluster and the reason before it gives up")
  func workerWithoutCluster() async throws {
    let process = try CommandProcess(
      [],
      environment: [
        "MILLRACE_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "MILLRACE_TOPICS_DIRECTORY": Project.path("topics"),
        "MILLRACE_ADMIN_PORT": "0",
      ], program: "millrace-refunds")
    let first = await process.nextErrorLine()
    #expect(first.contains("connecting to Kafka") && first.contains("127.0.0.1:1"), "\(first)")
    let second = await process.nextErrorLine()
    #expect(second.contains("does not answer") && second.contains("Connection refused"), "\(second)")
    #expect(process.process.isRunning)
    process.send(SIGKILL)
    _ = try await process.finish()
  }

  @Test("api uses the configured URL, and names missing credentials")
  func api() async throws {
    let api = try APIFixture()
    let key = try #require(try api.configuration().apps[0].api.privateKeyFile)
    let app = "bundleId: com.example.app, appAppleId: 1234567890"
    func run(_ apps: String) async throws -> CommandProcess.Result {
      let file = fixture.directory.appendingPathComponent("api.yaml").path
      // No process listens on port 1.
      try "apps: [{ \(apps) }]\nappStore: { productionURL: 'http://127.0.0.1:1' }\n"
        .write(toFile: file, atomically: true, encoding: .utf8)
      return try await CommandProcess.run(["api", "transaction", "400002", "--config", file])
    }
    let names = "issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: 2X9R4HXF34"
    let unreachable = try await run("\(app), api: { \(names), privateKeyFile: '\(key)' }")
    #expect(unreachable.status == 1 && unreachable.out.isEmpty)
    #expect(unreachable.err.hasPrefix("error: getTransactionInfo in Production: "), "\(unreachable.err)")
    let without = try await run(app)
    #expect(without.status == 78 && without.err.contains("apps[0].api"), "\(without.err)")
  }

  @Test("listen reads a development cluster, and both commands end with 0 on a signal")
  func developmentCluster() async throws {
    let file = fixture.directory.appendingPathComponent("bootstrap").path
    let environment = ["MILLRACE_TOPICS_LANES": "2"]
    let cluster = try CommandProcess(["embedded-cluster", "--bootstrap-file", file], environment: environment)
    let address = await cluster.nextLine()
    #expect(try String(contentsOfFile: file, encoding: .utf8) == address + "\n")

    let reachable = environment.merging(["MILLRACE_KAFKA_BOOTSTRAP_SERVERS": address]) { $1 }
    let limited = try CommandProcess(["listen", "--limit", "1"], environment: reachable)
    let endless = try CommandProcess(["listen", "--family", "tests"], environment: reachable)
    for command in [limited, endless] { #expect(await command.nextErrorLine() == "connecting to \(address) …") }
    #expect(await limited.nextErrorLine() == "listening on 11 topics, 22 partitions")
    #expect(await endless.nextErrorLine() == "listening on 1 topic, 2 partitions")

    let record = try await fixture.record(v2: fixture.sample(.test)).producerRecord
    let producer = try KafkaProducer(KafkaConfiguration(bootstrapServers: address))
    let producing = Task { try await producer.run() }
    _ = try await producer.send(record)
    producer.shutDown()
    try await producing.value

    let heard = try await limited.finish()
    #expect(heard.status == 0, "\(heard.err)")
    #expect(try JSONObject(parsing: Array(heard.out.utf8)).string("type") == "TEST")
    #expect(await endless.nextLine().contains("\"TEST\""))
    endless.send(SIGINT)
    #expect(try await endless.finish().status == 0)

    // A single broker cannot provide the replicas that the topic files declare.
    let relaxed = reachable.merging(["MILLRACE_KAFKA_DURABILITY": "relaxed"]) { $1 }
    let nothing = try await CommandProcess.run(["topics", "apply", "--yes"], environment: relaxed)
    #expect(nothing.status == 0 && nothing.err == "connecting to \(address) …\n", "\(nothing.err)")
    let wider = relaxed.merging(["MILLRACE_TOPICS_LANES": "3"]) { $1 }
    let refused = try await CommandProcess.run(["topics", "apply", "--yes"], environment: wider)
    #expect(refused.status == 1 && refused.err.contains("embedded"), "\(refused.err)")
    let list = try await CommandProcess.run(["quarantine", "list"], environment: reachable)
    #expect(list.status == 0 && list.out.isEmpty, "\(list.err)")
    #expect(
      list.err == "connecting to \(address) …\nreading the quarantine\nThe quarantine is empty.\n", "\(list.err)")

    cluster.send(SIGTERM)
    #expect(try await cluster.finish().status == 0)
  }
}
