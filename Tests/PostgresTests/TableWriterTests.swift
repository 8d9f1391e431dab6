import AppStore
import AppStoreSigning
import Foundation
import KafkaClient
import MillraceCore
import Testing

@testable import Postgres

@Suite(.enabled(if: PostgresServer.programs != nil, "\(PostgresServer.absence)"), .timeLimit(.minutes(5)))
struct TableWriterTests {
  private static let first = TopicPartition(topic: "appstore.purchases", partition: 0)

  private func page(
    _ records: [ConsumerRecord], from start: Int64, of partition: TopicPartition = first,
    as table: PostgresSettings.Table = .purchases
  ) -> EncodedPage {
    EncodedPage(
      records, of: partition, from: start, to: (records.last?.offset ?? start - 1) + 1, as: RowEncoder(.of(table)),
      .of(table))
  }

  private func purchase(_ id: String, owned: Bool, at offset: Int64) -> ConsumerRecord {
    record(
      id,
      #"{"transactionId":"\#(id)","owned":\#(owned),"quantity":1,"purchaseDate":"2026-01-01T00:00:00.000Z","#
        + #""signedDate":"2026-01-01T00:00:00.000Z","cause":{"kind":"answer","id":"x"},"appAccountToken":"customer"}"#,
      at: offset)
  }

  private func migrated(_ server: PostgresServer) async throws -> TableWriter {
    _ = try await Migrator(server.connect(), schema: "millrace").migrate()
    return try await writer(server)
  }

  private func writer(_ server: PostgresServer) async throws -> TableWriter {
    try await TableWriter(server.connect(), server.settings(), cluster: "c")
  }

  @Test func `the newest row of a key is kept, and a record without a value deletes it`() async throws {
    try await PostgresServer.run { server in
      let writer = try await migrated(server)
      try await writer.begin([Self.first: 10])
      try await writer.write([
        page(
          [
            purchase("1", owned: true, at: 10), purchase("2", owned: true, at: 11), purchase("1", owned: false, at: 14),
          ],
          from: 10)
      ])
      #expect(
        try await server.value("SELECT string_agg(transaction_id || owned, ',' ORDER BY 1) FROM millrace.purchases")
          == "1false,2true")
      #expect(try await writer.positions([Self.first]) == [Self.first: 15])
      try await writer.write([page([record("1", nil, at: 15), purchase("2", owned: false, at: 16)], from: 15)])
      #expect(
        try await server.value("SELECT string_agg(transaction_id || owned, ',' ORDER BY 1) FROM millrace.purchases")
          == "2false")
      #expect(
        try await server.value(
          "SELECT entitled FROM millrace.customer_entitlements WHERE app_account_token = 'customer'") == "f")
    }
  }

  @Test func `the view of outcomes counts the newest outcome of each request, by preference, product and country`()
    async throws
  {
    try await PostgresServer.run { server in
      _ = try await migrated(server)
      func event(
        _ id: String, _ outcome: String, _ date: String?, product: String = "p", preference: String? = "DECLINE"
      )
        -> String
      {
        let decided = date.map { #","decidedAt":"\#($0)T00:00:00.000Z""# } ?? ""
        let preferred = preference.map { #","refundPreference":"\#($0)""# } ?? ""
        return #"('\#(id)\#(outcome)','consumption.outcome','consumption','{"purchase":{"notificationUUID":"\#(id)","#
          + #""bundleId":"b","environment":"Production","productId":"\#(product)"},"outcome":"\#(outcome)""#
          + decided + preferred + #","storefront":"DEU"}')"#
      }
      let events = [
        event("1", "refunded", "2026-01-01"), event("2", "declined", "2026-01-01"), event("3", "none", nil),
        // A reversal is the newest word about its request, in whatever order the events arrive.
        event("4", "reversed", "2026-01-03"), event("4", "refunded", "2026-01-02"),
        event("5", "refunded", "2026-01-01", product: "q", preference: nil),
      ]
      let connection = try await server.connect()
      try await connection.execute(
        "INSERT INTO millrace.events (id, type, worker, data) VALUES \(events.joined(separator: ","))", to: "test")
      #expect(
        try await server.value(
          """
          SELECT string_agg(concat_ws('/', product_id, refund_preference, storefront, answers, refunded, declined, \
          reversed, undecided, refunded_share), ' ' ORDER BY product_id) FROM millrace.consumption_outcomes
          """) == "p/DECLINE/DEU/4/1/1/1/1/0.2500 q/DEU/1/1/0/0/0/1.0000")
    }
  }

  @Test func `a process that continues elsewhere writes nothing`() async throws {
    try await PostgresServer.run { server in
      let (old, new) = (try await migrated(server), try await writer(server))
      try await old.begin([Self.first: 0])
      try await new.begin([Self.first: 7])
      #expect(try await new.positions([Self.first]) == [Self.first: 0])
      try await new.write([page([purchase("1", owned: true, at: 0)], from: 0)])
      let error = await #expect(throws: PostgresError.self) {
        try await old.write([page([purchase("1", owned: false, at: 0), purchase("2", owned: true, at: 1)], from: 0)])
      }
      #expect(error?.code == PostgresError.fenced && error?.isTemporary == true)
      #expect(try await server.value("SELECT count(*) || max(owned::text) FROM millrace.purchases") == "1true")
      #expect(try await old.positions([Self.first]) == [Self.first: 1])
      // The session is usable again.
      try await old.write([page([purchase("2", owned: true, at: 1)], from: 1)])
      #expect(try await server.value("SELECT count(*) FROM millrace.purchases") == "2")
    }
  }

  @Test func `a process that was paused in a transaction does not stop its successor, and changes nothing`()
    async throws
  {
    try await PostgresServer.run { server in
      let successor = try await migrated(server)
      try await successor.begin([Self.first: 0])
      // The state of a process between the last statement and the commit: it holds locks.
      let paused = try await server.connect()
      try await paused.execute("BEGIN", to: "test")
      try await paused.execute(
        "SELECT millrace.advance('c', '{appstore.purchases}', '{0}', '{0}', '{5}')", to: "test")
      // The server ends the session after ten seconds of silence, and the successor continues.
      try await successor.write([page([purchase("1", owned: true, at: 0)], from: 0)])
      let error = await #expect(throws: PostgresError.self) { try await paused.execute("COMMIT", to: "test") }
      #expect(error?.isConnectionLost == true)
      #expect(try await successor.positions([Self.first]) == [Self.first: 1])
    }
  }

  @Test func `rows and position are lost together with the server, or kept together`() async throws {
    try await PostgresServer.run { server in
      let before = try await migrated(server)
      try await before.begin([Self.first: 0])
      try await before.write([page([purchase("1", owned: true, at: 0)], from: 0)])
      await server.kill()
      let error = await #expect(throws: PostgresError.self) {
        try await before.write([page([purchase("2", owned: true, at: 1)], from: 1)])
      }
      #expect(error?.isTemporary == true)
      try await server.restart()
      let after = try await writer(server)
      #expect(try await after.positions([Self.first]) == [Self.first: 1])
      #expect(try await server.value("SELECT count(*) FROM millrace.purchases") == "1")
    }
  }

  @Test func `whatever the records contain, the database refuses no row`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("hostile rows: seed \(seed)")
    try await PostgresServer.run { server in
      let writer = try await migrated(server)
      var random = SeededGenerator(seed: seed)
      let texts = [
        "", "\u{0}", "\\N", "\\.", "\t", "\n", "\"", "'", "2026-02-30T00:00:00.000Z", "-9999-01-01T00:00:00.000Z",
        "\u{1F600}", "{}", "\\u0000",
        // Not compressible, and too long for an index.
        String((0..<5_000).map { _ in "abcdefghijklmnopqrstuvwxyz0123456789".randomElement(using: &random) ?? "a" }),
      ]
      let values: [JSON] =
        texts.map { .string($0) } + [
          .null, true, 1, .integer(.max), .number("1e400"), .number("-1e-999999"), .number("0.1"), [], [:],
          ["\u{0}": ["\u{0}"]],
        ]
      for table in PostgresSettings.Table.allCases {
        let definition = TableDefinition.of(table)
        let partition = TopicPartition(topic: table.rawValue, partition: 0)
        try await writer.begin([partition: 0])
        let records = (0..<300).map { number in
          var row = JSONObject()
          for column in definition.columns where Bool.random(using: &random) {
            row[column.field] = values.randomElement(using: &random)
          }
          let key = Bool.random(using: &random) ? "key \(number)" : texts.randomElement(using: &random) ?? ""
          if let column = definition.key { row[column.field] = .string(key) }
          var made = record(
            key, nil, at: Int64(number),
            headers: [RecordHeader("ce_id", key), RecordHeader("ce_type", texts.randomElement(using: &random) ?? "")])
          made.value = row.serialized()
          return made
        }
        try await writer.write([page(records, from: 0, of: partition, as: table)])
        #expect(try await writer.positions([partition]) == [partition: 300])
      }
      let problem = RowProblem.tooLong.rawValue
      #expect(try await server.value("SELECT count(*) > 0 FROM millrace.rejected WHERE reason = '\(problem)'") == "t")
    }
  }

  @Test func `a record that is no row is kept in the table rejected`() async throws {
    try await PostgresServer.run { server in
      let writer = try await migrated(server)
      try await writer.begin([Self.first: 0])
      try await writer.write([page([record("1", "text\t\\", at: 0), purchase("2", owned: true, at: 1)], from: 0)])
      #expect(
        try await server.value("SELECT \"offset\" || reason || convert_from(value, 'UTF8') FROM millrace.rejected")
          == "0the value is not a JSON objecttext\t\\")
      #expect(try await server.value("SELECT count(*) FROM millrace.purchases") == "1")
    }
  }

  @Test func `an erasure deletes the rows before it, and not those after it`() async throws {
    try await PostgresServer.run { server in
      let writer = try await migrated(server)
      func row(_ customer: String, at offset: Int64) -> ConsumerRecord {
        record(customer, #"{"notificationUUID":"\#(offset)","originalTransactionId":"\#(customer)"}"#, at: offset)
      }
      let notifications = TopicPartition(topic: "appstore.decoded.notifications", partition: 0)
      try await writer.begin([notifications: 0])
      try await writer.write([
        page(
          [row("1", at: 0), row("2", at: 1), record("1", "no row", at: 2), record("1", nil, at: 3)], from: 0,
          of: notifications, as: .notifications)
      ])
      let rest = page(
        [row("1", at: 4), record("2", nil, at: 6), row("2", at: 7)], from: 4, of: notifications, as: .notifications)
      #expect(rest.count == 2 && rest.end == 7, "a page ends with an erasure")
      try await writer.write([page([row("1", at: 4)], from: 4, of: notifications, as: .notifications)])
      #expect(
        try await server.value("SELECT string_agg(notification_uuid, ',' ORDER BY 1) FROM millrace.notifications")
          == "1,4")
      #expect(try await server.value("SELECT count(*) FROM millrace.rejected") == "0")

      // A token about a download has no purchase. Its key is the id of the download.
      let tokens = TopicPartition(topic: "appstore.decoded.transactions", partition: 0)
      try await writer.begin([tokens: 0])
      try await writer.write([
        page(
          [
            record("704", #"{"appTransactionId":"704"}"#, at: 0),
            record("9", #"{"originalTransactionId":"9","appTransactionId":"704"}"#, at: 1), record("704", nil, at: 2),
          ], from: 0, of: tokens, as: .transactions)
      ])
      #expect(
        try await server.value("SELECT string_agg(original_transaction_id, ',') FROM millrace.transactions") == "9")

      func event(_ customer: String, _ name: String, of worker: String, at offset: Int64) -> ConsumerRecord {
        var event = record(
          customer, "{}", at: offset,
          headers: [
            RecordHeader("ce_id", "\(worker)\(offset)"), RecordHeader("ce_type", "dev.millrace.\(worker).\(name)"),
          ])
        event.topic = "eu.appstore.events.\(worker)"
        return event
      }
      let (refunds, other) = (
        TopicPartition(topic: "eu.appstore.events.refunds", partition: 0),
        TopicPartition(topic: "eu.appstore.events.subscriptions", partition: 0)
      )
      try await writer.begin([refunds: 0, other: 0])
      try await writer.write([
        page(
          [
            event("1", "refund.declined", of: "refunds", at: 0), event("2", "refund.declined", of: "refunds", at: 1),
            event("2", "crm.customer.erased", of: "refunds", at: 2),
            event("1", "customer.erased", of: "refunds", at: 3),
          ], from: 0, of: refunds, as: .events),
        page([event("1", "subscription.started", of: "subscriptions", at: 0)], from: 0, of: other, as: .events),
      ])
      #expect(
        try await server.value("SELECT string_agg(id, ',' ORDER BY id) FROM millrace.events")
          == "refunds1,refunds2,subscriptions0")
    }
  }

  @Test func `a connection verifies the server, and takes its password from a file`() async throws {
    try await PostgresServer.run(isSecured: true) { server in
      let isEncrypted = try await server.value("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
      #expect(isEncrypted == "t")
      func refusal(_ change: (inout PostgresSettings) -> Void) async throws -> String {
        let error = await #expect(throws: PostgresError.self) {
          try await PostgresConnection.open(server.settings(change), application: "test")
        }
        return "\(try #require(error))"
      }
      let url = try #require(server.settings().url)
      let stranger = "\(server.folder)/stranger.pem"
      for change: (inout PostgresSettings) -> Void in [
        { $0.certificateAuthorityFile = stranger },
        { ($0.url, $0.certificateAuthorityFile) = (url + "&sslrootcert=\(stranger)", nil) },
      ] {
        #expect(try await refusal(change).contains("certificate verify failed"))
      }
      let plain = try await refusal { $0.url = url.replacingOccurrences(of: "verify-full", with: "disable") }
      #expect(plain.contains("no encryption"))
      let wrong = "\(server.folder)/wrong"
      try Data("another password".utf8).write(to: URL(filePath: wrong))
      let password = try await refusal { $0.passwordFile = wrong }
      #expect(password.contains("password authentication failed") && !password.contains("another"))
      let missing = await #expect(throws: MillraceError.self) {
        try await PostgresConnection.open(
          server.settings { $0.passwordFile = "\(server.folder)/missing" }, application: "test")
      }
      #expect("\(try #require(missing))".contains("postgres.passwordFile"))
      // The file may have been rotated since the connection was lost.
      try Data("ALTER".utf8).write(to: URL(filePath: wrong))
      _ = try await server.connect().execute("ALTER USER postgres PASSWORD 'ALTER'", to: "rotate the password")
      _ = try await PostgresConnection.open(server.settings { $0.passwordFile = wrong }, application: "test")
    }
  }

  @Test func `listeners hear which customers changed`() async throws {
    try await PostgresServer.run { server in
      _ = try await migrated(server)
      let listener = try await server.connect()
      try await listener.execute("LISTEN millrace", to: "test")
      let writer = try await TableWriter(server.connect(), server.settings { $0.notify = true }, cluster: "c")
      try await writer.begin([Self.first: 0])
      try await writer.write([page([purchase("1", owned: true, at: 0), purchase("2'", owned: true, at: 1)], from: 0)])
      #expect(try await listener.notifications().sorted() == ["1,2'"])
    }
  }
}

@Suite(.enabled(if: PostgresServer.programs != nil, "\(PostgresServer.absence)"), .timeLimit(.minutes(5)))
struct MigratorTests {
  private let later = Migration(
    version: Migration.all.count + 1, name: "later", sql: "ALTER TABLE {schema}.purchases ADD COLUMN later text")

  @Test func `two processes that migrate at once apply each migration once`() async throws {
    try await PostgresServer.run { server in
      async let one = Migrator(server.connect(), schema: "apps").migrate()
      async let other = Migrator(server.connect(), schema: "apps").migrate()
      #expect(try await one.count + other.count == Migration.all.count)
      try await Migrator(server.connect(), schema: "apps").check()
      #expect(try await Migrator(server.connect(), schema: "apps").migrate().isEmpty)
      #expect(
        try await Migrator(server.connect(), schema: "apps", migrations: Migration.all + [later]).migrate().map(
          \.version) == [later.version])
    }
  }

  @Test func `a process refuses a schema that is missing, older or newer`() async throws {
    try await PostgresServer.run { server in
      let migrator = Migrator(try await server.connect(), schema: "millrace")
      let missing = await #expect(throws: MillraceError.self) { try await migrator.check() }
      #expect(missing?.description.contains("run millrace postgres migrate") == true)
      _ = try await migrator.migrate()
      let newer = Migrator(try await server.connect(), schema: "millrace", migrations: Migration.all + [later])
      let old = await #expect(throws: MillraceError.self) { try await newer.check() }
      #expect(
        old?.description.contains("has version \(later.version - 1), and this program needs \(later.version)") == true)
      _ = try await newer.migrate()
      for attempt in [migrator.check, { _ = try await migrator.migrate() }] {
        let error = await #expect(throws: MillraceError.self) { try await attempt() }
        #expect(error?.description.contains("knows only \(later.version - 1)") == true)
      }
    }
  }

  @Test func `the tables have the columns that rows are written to`() async throws {
    try await PostgresServer.run { server in
      let connection = try await server.connect()
      _ = try await Migrator(connection, schema: "millrace").migrate()
      for definition in PostgresSettings.Table.allCases.map(TableDefinition.of) {
        let rows = try await connection.query(
          "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'millrace' AND table_name = $1",
          [definition.table.rawValue], to: "test")
        let types = Dictionary(rows.map { ($0[0] ?? "", $0[1] ?? "") }) { first, _ in first }
        let expected: [TableDefinition.ColumnKind: String] = [
          .text: "text", .integer: "bigint", .boolean: "boolean", .time: "timestamp with time zone",
          .json: "jsonb", .jsonText: "jsonb",
        ]
        for column in definition.columns {
          #expect(types[column.name] == expected[column.kind], "\(definition.table) \(column)")
        }
      }
    }
  }

  @Test func `the question about a customer uses an index`() async throws {
    try await PostgresServer.run { server in
      let connection = try await server.connect()
      _ = try await Migrator(connection, schema: "millrace").migrate()
      try await connection.execute(
        """
        INSERT INTO millrace.subscriptions (original_transaction_id, app_account_token, status, transaction_id, cause)
        SELECT n::text, 'customer ' || n, 'active', n::text, '{}' FROM generate_series(1, 20000) AS n;
        ANALYZE millrace.subscriptions
        """, to: "test")
      for column in ["app_account_token = 'customer 7'", "original_transaction_id = '7'"] {
        let plan = try await connection.execute(
          "EXPLAIN SELECT entitled FROM millrace.customer_entitlements WHERE \(column)", to: "test"
        ).compactMap { $0.first.flatMap { $0 } }.joined(separator: "\n")
        #expect(plan.contains("Index") && !plan.contains("Seq Scan on subscriptions"), "\(plan)")
      }
    }
  }
}
