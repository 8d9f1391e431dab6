// Measures the cost of selecting records compared with reading them, and of listing a hundred thousand dead letters.
import AppStore
import ArgumentParser
import MillraceTime
import Foundation
import KafkaClient
import MillraceWorker
import MillraceTesting
import Operations

struct ReplayBenchmark: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Compares a filtered dry run with a plain librdkafka loop in C, and lists many dead letters.",
    discussion: """
      Both read every record of one topic of the same embedded cluster, in alternating order. The dry run selects a \
      hundredth of the records by type. Dead letters are in an in-memory log, because the embedded cluster cannot keep so \
      many. A separate process lists them, for a separate memory measurement.
      """)

  @OptionGroup var output: OutputOptions
  @Option(help: "The rounds for each kind of record.") var rounds = 7
  @Option(help: "The partitions; the embedded cluster keeps 5 MiB of each, so few make a short round.")
  var lanes = 128
  @Option(help: "The number of dead letters.") var letters = 100_000
  @Option(help: "The project's directory.") var project = "."

  func run() async throws {
    var report = ReplayReport()
    for (bytes, count) in [(17_000, 250), (1_000, 3_000)] {
      report.reading.append(try await compare(bytes: bytes, count: count * lanes))
    }
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    report.list = try ListResult(try ChildProcess.output(of: own, ["list-letters", "--letters", "\(letters)"]))
    print(output.json ? report.line : report.table)
  }

  private func compare(bytes: Int, count: Int) async throws -> ReplayReport.Reading {
    let cluster = try await ClusterProcess.start(project: project, extra: [], lanes: lanes)
    defer { cluster.stop() }
    var stage = try await ConsumeStage(bootstrap: cluster.bootstrap, lanes: lanes)
    var records = stage.unsigned(count, bytes: bytes)
    for index in records.indices where index.isMultiple(of: 100) {
      records[index].headers = records[index].headers.map { header in
        header.name == "ce_type" ? RecordHeader("ce_type", NotificationRecord.v2TypePrefix + "REFUND") : header
      }
    }
    let filled = records
    try await stage.producing { [stage] in try await stage.fill(filled) }
    let log = try await ConsumeStage.log(cluster.bootstrap, isBacklog: true)
    let replay = ReplayOperation(on: log, prefix: "", author: "bench")
    var selection = RecordSelection()
    (selection.topics, selection.types) = ([ConsumeStage.topic], ["REFUND"])
    let request = ReplayRequest(selection, to: .topic("appstore.notifications.unrecognized"))
    var reading = ReplayReport.Reading(bytes: bytes)
    for round in 0...rounds {
      func inC() throws -> Double {
        // Each round has its own loop, which reads from the oldest record. Both have to connect first.
        let start = ContinuousClock.now
        let loop = try CLoop(cluster.bootstrap, lanes: lanes)
        defer { loop.close() }
        _ = try loop.perSecond(count, warmUp: 0)
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
      }
      func ours() async throws -> Double {
        let start = ContinuousClock.now
        let survey = try await replay.survey(try await replay.plan(request))
        guard survey.read == count, survey.chosen == count / 100 else {
          throw BenchError("\(survey.read) of \(count) records were read, \(survey.chosen) chosen")
        }
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
      }
      let pair: (Double, Double)
      if round.isMultiple(of: 2) {
        let first = try inC()
        pair = (first, try await ours())
      } else {
        let first = try await ours()
        pair = (try inC(), first)
      }
      if round > 0 { reading.pairs.rounds.append(pair) }
    }
    return reading
  }
}

/// Lists dead letters of an in-memory log and prints the cost.
struct ListLetters: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list-letters", abstract: "Lists dead letters and prints the cost.", shouldDisplay: false)

  @Option(help: "The number of dead letters.") var letters: Int

  func run() async throws {
    let time = MillraceClock.system
    let log = InMemoryLog(clock: time)
    let topics = WorkerTopics(worker: "bench", inputs: [], delays: [], prefix: "")
    for name in [topics.deadLetters, topics.replay] { try log.createTopic(name, partitions: 12) }
    for name in [topics.operations, topics.audit] { try log.createTopic(name, partitions: 1) }
    let headers = [
      RecordHeader("ce_id", "00000000-0000-4000-8000-000000000000"),
      RecordHeader("ce_type", NotificationRecord.v2TypePrefix + "DID_RENEW"),
      RecordHeader("ce_source", "appstore/Production/com.example.app"), RecordHeader("millrace-attempt", "12"),
      RecordHeader("millrace-cause", "2026-03-01T12:00:00.000Z server-error: it answered 503 Service Unavailable"),
      RecordHeader("millrace-reason", "attempts-exhausted"), RecordHeader("millrace-detail", "tried 12 times"),
      RecordHeader("millrace-remedy", "fix the cause, then requeue it"),
      RecordHeader("millrace-died-at", "\(time.wallTime.millisecondsSince1970)"),
    ]
    // All records share one value, because the test measures the list and not the log.
    let value = [UInt8](repeating: UInt8(ascii: "x"), count: 12_000)
    for number in 0..<letters {
      try log.append(
        ProducerRecord(
          topic: topics.deadLetters, partition: Int32(number % 12), key: Array("\(number)".utf8), value: value,
          headers: headers))
    }
    let before = Restore.peakBytes
    let start = ContinuousClock.now
    let operations = try WorkerOperations(worker: "bench", prefix: "", on: log, author: "bench")
    let groups = try await operations.deadLetterGroups()
    let grouped = (ContinuousClock.now - start) / .seconds(1)
    let entries = try await operations.deadLetters()
    let each = (ContinuousClock.now - start) / .seconds(1) - grouped
    guard groups.count == letters, entries.count == letters else { throw BenchError("the list is incomplete") }
    print(grouped, each, (Restore.peakBytes - before) / 1_048_576)
  }
}

/// The cost of a list.
struct ListResult {
  var groupedSeconds: Double
  var eachSeconds: Double
  /// Memory in addition to the process's before, which includes the letters.
  var addedMiB: Double

  init(_ line: String) throws {
    let parts = line.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
    guard parts.count == 3 else { throw BenchError("unexpected output of the listing process: \(line)") }
    (groupedSeconds, eachSeconds, addedMiB) = (parts[0], parts[1], parts[2])
  }
}

struct ReplayReport {
  struct Reading {
    var bytes: Int
    var pairs = Pairs()
  }

  var reading: [Reading] = []
  var list: ListResult?

  var table: String {
    var table = Table(titles: ["bench replay", "loop in C, records/s", "dry run, records/s", "ratio"])
    table.rows = reading.map { reading in
      [
        "\(Numbers.whole(Double(reading.bytes))) bytes, one type", Numbers.whole(reading.pairs.baseline),
        Numbers.whole(reading.pairs.ours), Numbers.fixed(reading.pairs.ratio, 2),
      ]
    }
    guard let list else { return table.text }
    return """
      \(table.text)
      dead letters: in groups \(Numbers.fixed(list.groupedSeconds, 2)) s, one by one \
      \(Numbers.fixed(list.eachSeconds, 2)) s, \(Numbers.fixed(list.addedMiB, 0)) MiB for the list
      """
  }

  var line: String {
    var object = JSONObject()
    object["benchmark"] = .string("replay")
    object["reading"] = .array(
      reading.map { reading in
        var json = JSONObject()
        json["bytes"] = .integer(Int64(reading.bytes))
        json.set("loopPerSecond", reading.pairs.baseline)
        json.set("dryRunPerSecond", reading.pairs.ours)
        json.set("ratio", reading.pairs.ratio)
        return .object(json)
      })
    if let list {
      object.set("groupedSeconds", list.groupedSeconds)
      object.set("eachSeconds", list.eachSeconds)
      object.set("addedMiB", list.addedMiB)
    }
    return object.line
  }
}
