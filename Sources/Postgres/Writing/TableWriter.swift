// Writes pages in one transaction, which also moves the positions of their partitions.

internal import AppStore
internal import KafkaClient
internal import MillraceCore

/// A session that writes tables.
struct TableWriter: Sendable {
  private let connection: PostgresConnection
  private let settings: PostgresSettings
  private let cluster: String

  /// Prepares a new connection.
  /// - Throws: ``PostgresError``; ``MillraceError`` if the database does not have the schema of this program.
  init(_ connection: PostgresConnection, _ settings: PostgresSettings, cluster: String) async throws {
    (self.connection, self.settings, self.cluster) = (connection, settings, cluster)
    try await Migrator(connection, schema: settings.schema).check()
    for definition in settings.tables.map(TableDefinition.of) where definition.key != nil {
      let columns = definition.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
      try await connection.execute(
        """
        CREATE TEMPORARY TABLE \(Self.staging(definition)) ON COMMIT DELETE ROWS AS
        SELECT \(columns) FROM \(settings.schema).\(definition.table.rawValue) WITH NO DATA
        """, to: "create a temporary table")
    }
  }

  private static func staging(_ definition: TableDefinition) -> String { "staged_\(definition.table.rawValue)" }

  // MARK: - Positions

  /// Returns the offset from which each partition continues. A partition that was never written has none.
  func positions(_ partitions: [TopicPartition]) async throws -> [TopicPartition: Int64] {
    let rows = try await connection.query(
      """
      SELECT topic, "partition", next FROM \(settings.schema).positions
      WHERE cluster = $1 AND topic = ANY($2::text[])
      """, [cluster, Self.array(Set(partitions.map(\.topic)).sorted())], to: "read the positions")
    let wanted = Set(partitions)
    var found: [TopicPartition: Int64] = [:]
    for row in rows {
      guard row.count == 3, let topic = row[0], let number = row[1].flatMap({ Int32($0) }),
        let next = row[2].flatMap({ Int64($0) })
      else { continue }
      let partition = TopicPartition(topic: topic, partition: number)
      if wanted.contains(partition) { found[partition] = next }
    }
    return found
  }

  /// Stores where a partition begins that was never written. Another process may do the same.
  func begin(_ positions: [TopicPartition: Int64]) async throws {
    let sorted = positions.sorted { $0.key < $1.key }
    _ = try await connection.query(
      """
      INSERT INTO \(settings.schema).positions (cluster, topic, "partition", next)
      SELECT $1, * FROM unnest($2::text[], $3::integer[], $4::bigint[]) ON CONFLICT DO NOTHING
      """,
      [
        cluster, Self.array(sorted.map(\.key.topic)), Self.array(sorted.map { "\($0.key.partition)" }),
        Self.array(sorted.map { "\($0.value)" }),
      ], to: "store the first positions")
  }

  // MARK: - Rows

  /// Writes pages of different partitions in one transaction.
  /// - Throws: ``PostgresError``; its code is ``PostgresError/fenced`` if another process has written the same records.
  ///   Then nothing is written.
  func write(_ pages: [EncodedPage]) async throws {
    let changes = Dictionary(grouping: pages, by: \.table).sorted { $0.key.rawValue < $1.key.rawValue }
      .map { TableChange(TableDefinition.of($0.key), $0.value) }
    try await connection.execute("BEGIN", to: "begin")
    do {
      try await copy(changes, pages)
      try await connection.execute(finish(changes, pages), to: "move the positions")
      try await connection.execute("COMMIT", to: "commit")
    } catch let error as PostgresError {
      if !error.isConnectionLost { _ = try? await connection.execute("ROLLBACK", to: "roll back") }
      throw error
    }
  }

  /// Copies rows. A process that stops here holds no lock that its successor waits for: the rows of tables with a key
  /// are in temporary tables, and the other tables only grow.
  private func copy(_ changes: [TableChange], _ pages: [EncodedPage]) async throws {
    for change in changes where change.hasRows {
      let (definition, table) = (change.definition, change.definition.table.rawValue)
      let columns = definition.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
      let target = definition.key == nil ? "\(settings.schema).\(table)" : Self.staging(definition)
      try await connection.copy("COPY \(target) (\(columns)) FROM STDIN", change.rows, to: "write \(table)")
    }
    let rejected = pages.flatMap { page in page.rejected.map { Self.row($0, page.partition) } }
    if !rejected.isEmpty {
      try await connection.copy(
        "COPY \(settings.schema).rejected (topic, \"partition\", \"offset\", reason, key, value) FROM STDIN", rejected,
        to: "write rejected records")
    }
  }

  /// The statements that change rows which others may change too. The server runs them without waiting for this process,
  /// so a stopped process holds their locks for ten seconds at most.
  private func finish(_ changes: [TableChange], _ pages: [EncodedPage]) -> String {
    let partitions = pages.sorted { $0.partition < $1.partition }
    var statements = [
      """
      SELECT \(settings.schema).advance(\(Self.literal(cluster)), \
      \(Self.literal(Self.array(partitions.map(\.partition.topic))))::text[], \
      '\(Self.array(partitions.map { "\($0.partition.partition)" }))'::integer[], \
      '\(Self.array(partitions.map { "\($0.start)" }))'::bigint[], \
      '\(Self.array(partitions.map { "\($0.end)" }))'::bigint[])
      """
    ]
    var changed: [String] = []
    for change in changes {
      let (definition, table) = (change.definition, change.definition.table)
      guard let key = definition.key else {
        statements += change.pages.compactMap { page in page.erased.map { erasure(of: $0, in: page) } }
        continue
      }
      let columns = definition.columns.map { "\"\($0.name)\"" }
      if change.hasRows {
        let assignments = columns.filter { $0 != "\"\(key.name)\"" }.map { "\($0) = EXCLUDED.\($0)" }
        statements.append(
          """
          INSERT INTO \(settings.schema).\(table.rawValue) (\(columns.joined(separator: ", "))) \
          SELECT \(columns.joined(separator: ", ")) FROM \(Self.staging(definition)) ORDER BY "\(key.name)" \
          ON CONFLICT ("\(key.name)") DO UPDATE SET \(assignments.joined(separator: ", ")), updated_at = now()
          """)
      }
      if !change.deleted.isEmpty {
        statements.append(
          """
          DELETE FROM \(settings.schema).\(table.rawValue) \
          WHERE "\(key.name)" = ANY(\(Self.literal(Self.array(change.deleted)))::text[])
          """)
        if let topic = change.pages.first?.partition.topic {
          statements.append(rejectedRows(of: change.deleted.map { Array($0.utf8) }, topic))
        }
      }
      if table != .entitlements { changed += change.keys }
    }
    if settings.notify, !changed.isEmpty {
      // A payload is at most 8,000 bytes.
      let ids = changed.joined(separator: ",")
      statements.append(
        "SELECT pg_notify(\(Self.literal(settings.schema)), \(Self.literal(ids.utf8.count < 7_900 ? ids : "*")))")
    }
    return statements.joined(separator: ";\n")
  }

  /// The statement that deletes a customer's rows, and the rejected records of the same topic.
  private func erasure(of key: [UInt8], in page: EncodedPage) -> String {
    let customer = Self.literal(String(decoding: key, as: UTF8.self))
    let rejected = rejectedRows(of: [key], page.partition.topic)
    let rows: String
    if page.table == .events {
      // The topic of one worker's events has the order of its own events only.
      let worker = page.partition.topic.split(separator: ".").last.map(String.init) ?? ""
      rows =
        "DELETE FROM \(settings.schema).events WHERE key =\(customer) AND worker =\(Self.literal(worker))"
    } else {
      rows =
        "DELETE FROM \(settings.schema).\(page.table.rawValue) WHERE original_transaction_id =\(customer)"
        + (page.table == .transactions
          // A record about a download has the id of the download as its key, and no purchase.
          ? " OR (original_transaction_id IS NULL AND app_transaction_id =\(customer))" : "")
    }
    return rejected + ";\n" + rows
  }

  private func rejectedRows(of keys: [[UInt8]], _ topic: String) -> String {
    let keys = Self.array(keys.map { #"\x"# + Hex.text($0) })
    return "DELETE FROM \(settings.schema).rejected "
      + "WHERE topic =\(Self.literal(topic)) AND key = ANY(\(Self.literal(keys))::bytea[])"
  }

  private static func row(_ rejected: EncodedPage.Rejected, _ partition: TopicPartition) -> [UInt8] {
    func hex(_ bytes: [UInt8]?) -> String { bytes.map { #"\\x"# + Hex.text($0) } ?? #"\N"# }
    var row: [UInt8] = []
    CopyText.append(.string(partition.topic), .text, to: &row)
    row += Array(
      "\t\(partition.partition)\t\(rejected.offset)\t\(rejected.problem.rawValue)\t\(hex(rejected.key))\t\(hex(rejected.value))\n"
        .utf8)
    return row
  }

  /// An array in PostgreSQL's text form.
  static func array(_ elements: [String]) -> String {
    let quoted = elements.map { element in
      var text = "\""
      for character in element.unicodeScalars where character.value != 0 {
        if character == "\"" || character == "\\" { text.unicodeScalars.append("\\") }
        text.unicodeScalars.append(character)
      }
      return text + "\""
    }
    return "{" + quoted.joined(separator: ",") + "}"
  }

  /// A text as a literal that is read the same with every setting of `standard_conforming_strings`.
  static func literal(_ text: String) -> String {
    var literal = " E'"
    for character in text.unicodeScalars where character.value != 0 {
      if character == "'" || character == "\\" { literal.unicodeScalars.append("\\") }
      literal.unicodeScalars.append(character)
    }
    return literal + "'"
  }
}

/// The changes of one transaction in one table.
private struct TableChange {
  let definition: TableDefinition
  let pages: [EncodedPage]
  /// The rows to write. A table with a key gets the newest row of each key.
  private(set) var rows: [[UInt8]] = []
  /// The keys whose newest record is a deletion.
  private(set) var deleted: [String] = []
  /// The keys that change, if the table has a key.
  private(set) var keys: [String] = []

  var hasRows: Bool { rows.contains { !$0.isEmpty } }

  init(_ definition: TableDefinition, _ pages: [EncodedPage]) {
    (self.definition, self.pages) = (definition, pages)
    guard definition.key != nil else {
      rows = pages.map(\.rows)
      return
    }
    var seen: Set<[UInt8]> = []
    // One partition has all records of a key, and its pages come in order.
    for page in pages.reversed() {
      var bytes: [UInt8] = []
      if page.keyed.allSatisfy({ $0.place != nil && !seen.contains($0.key) }),
        Set(page.keyed.map(\.key)).count == page.keyed.count
      {
        // Usual: every key once.
        bytes = page.rows
        for row in page.keyed {
          seen.insert(row.key)
          keys.append(String(decoding: row.key, as: UTF8.self))
        }
      } else {
        for row in page.keyed.reversed() where seen.insert(row.key).inserted {
          let key = String(decoding: row.key, as: UTF8.self)
          keys.append(key)
          if let place = row.place { bytes += page.rows[place] } else { deleted.append(key) }
        }
      }
      rows.append(bytes)
    }
  }
}
