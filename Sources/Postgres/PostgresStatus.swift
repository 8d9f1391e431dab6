// What `millrace postgres status` prints.

internal import AppStore
internal import KafkaClient
internal import MillraceCore

/// How far the database is behind Kafka.
struct PostgresStatus {
  private struct Line {
    var table: String
    var topic: String
    var partitions: Int
    var lag: Int64?
  }

  private let configuration: MillraceConfiguration

  init(_ configuration: MillraceConfiguration) { self.configuration = configuration }

  /// Prints the version of the schema, and a line for each topic.
  /// - Parameter onlySchema: Whether to print only the version, for which Kafka is not needed.
  func print(asJSON: Bool, onlySchema: Bool) async throws {
    let settings = configuration.postgres
    let connection = try await PostgresConnection.open(settings, application: "millrace-postgres status")
    let migrator = Migrator(connection, schema: settings.schema)
    let version = try await migrator.version()
    if asJSON {
      Swift.print(
        text([
          "schema": .string(settings.schema), "version": .integer(Int64(version)),
          "newest": .integer(Int64(migrator.newest)),
        ]))
    } else {
      let note = version == migrator.newest ? "" : ", and this program needs \(migrator.newest)"
      Swift.print("schema \(settings.schema), version \(version)\(note)")
    }
    guard version > 0, !onlySchema else { return }
    for line in try await lines(connection) {
      if asJSON {
        Swift.print(
          text([
            "table": .string(line.table), "topic": .string(line.topic), "partitions": .integer(Int64(line.partitions)),
            "lag": line.lag.map { .integer($0) } ?? .null,
          ]))
      } else {
        let lag = line.lag.map { "\($0) behind" } ?? "never written"
        Swift.print(
          "  \(padded(line.table, 14))\(padded(line.topic, 44))\(padded("\(line.partitions) partitions", 16))\(lag)")
      }
    }
  }

  private func lines(_ connection: PostgresConnection) async throws -> [Line] {
    let kafka = try configuration.kafka.client(clientID: "millrace-postgres")
    let admin = KafkaAdmin(kafka)
    let timeout = Duration.seconds(30)
    let cluster = try await admin.describeCluster(timeout: timeout).clusterID ?? ""
    let wanted = PostgresWriter.topics(of: configuration)
    let topics = try await admin.describeTopics(Array(wanted.keys), withSettings: false, timeout: timeout)
    let rows = try await connection.query(
      "SELECT topic, \"partition\", next FROM \(configuration.postgres.schema).positions WHERE cluster = $1", [cluster],
      to: "read the positions")
    var positions: [TopicPartition: Int64] = [:]
    for row in rows {
      guard row.count == 3, let topic = row[0], let number = row[1].flatMap({ Int32($0) }),
        let next = row[2].flatMap({ Int64($0) })
      else { continue }
      positions[TopicPartition(topic: topic, partition: number)] = next
    }
    var lines: [Line] = []
    for topic in topics {
      guard let definition = wanted[topic.name] else { continue }
      let partitions = Set((0..<Int32(topic.partitionCount)).map { TopicPartition(topic: topic.name, partition: $0) })
      let ranges = try await admin.highWatermarks(of: Array(partitions), timeout: timeout)
      var lag: Int64?
      for partition in partitions {
        guard let next = positions[partition], let end = ranges[partition]?.upperBound else { continue }
        lag = (lag ?? 0) + max(0, end - next)
      }
      lines.append(Line(table: definition.table.rawValue, topic: topic.name, partitions: partitions.count, lag: lag))
    }
    return lines.sorted { ($0.table, $0.topic) < ($1.table, $1.topic) }
  }

  private func text(_ object: JSONObject) -> String { String(decoding: object.serialized(), as: UTF8.self) }

  private func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }
}
