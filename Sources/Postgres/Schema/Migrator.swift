// Applies migrations, and compares the database's version with this program's.

internal import MillraceCore

/// The schema of a database.
package struct Migrator: Sendable {
  private let connection: PostgresConnection
  private let schema: String
  private let migrations: [Migration]

  package init(_ connection: PostgresConnection, schema: String, migrations: [Migration] = Migration.all) {
    (self.connection, self.schema, self.migrations) = (connection, schema, migrations)
  }

  /// Returns the number of the last applied migration; 0 for a database without the schema.
  package func version() async throws -> Int {
    let rows = try await connection.query(
      "SELECT to_regclass($1)::text", ["\(schema).migrations"], to: "look for the schema")
    guard rows.first?.first.flatMap({ $0 }) != nil else { return 0 }
    let newest = try await connection.execute(
      "SELECT coalesce(max(version), 0) FROM \(schema).migrations", to: "read the schema's version")
    return newest.first?.first.flatMap { $0 }.flatMap { Int($0) } ?? 0
  }

  /// Applies the missing migrations, each in a transaction, and returns them. Two processes that migrate at once apply
  /// each once.
  package func migrate(onApplied: @Sendable (Migration) -> Void = { _ in }) async throws -> [Migration] {
    let lock = "millrace \(schema)"
    _ = try await connection.query("SELECT pg_advisory_lock(hashtext($1))", [lock], to: "wait for other migrations")
    do {
      try check(isAtMost: try await version())
      var applied: [Migration] = []
      try await connection.execute(
        """
        CREATE SCHEMA IF NOT EXISTS \(schema);
        CREATE TABLE IF NOT EXISTS \(schema).migrations (
          version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
        )
        """, to: "create the schema \(schema)")
      let current = try await version()
      for migration in migrations where migration.version > current {
        // Several statements in one message are one transaction.
        try await connection.execute(
          migration.sql.filled(schema)
            + "; INSERT INTO \(schema).migrations (version, name) VALUES (\(migration.version), '\(migration.name)')",
          to: "apply migration \(migration.version)")
        applied.append(migration)
        onApplied(migration)
      }
      _ = try await connection.query("SELECT pg_advisory_unlock(hashtext($1))", [lock], to: "end the migration")
      return applied
    } catch {
      // If the connection is lost, so is the lock.
      _ = try? await connection.query("SELECT pg_advisory_unlock(hashtext($1))", [lock], to: "end the migration")
      throw error
    }
  }

  /// Checks that the database has exactly the schema that this program knows.
  /// - Throws: ``MillraceError`` with the command that helps.
  package func check() async throws {
    let found = try await version()
    try check(isAtMost: found)
    guard found == newest else {
      throw MillraceError(
        .configuration,
        found == 0
          ? "the database has no schema \(schema)"
          : "the schema \(schema) has version \(found), and this program needs \(newest)", at: "postgres.schema",
        remedy: "run millrace postgres migrate")
    }
  }

  private func check(isAtMost found: Int) throws(MillraceError) {
    guard found > newest else { return }
    throw MillraceError(
      .configuration,
      "the schema \(schema) has version \(found), and this program knows only \(newest)", at: "postgres.schema",
      remedy: "run the version of millrace-postgres that migrated it, or a newer one")
  }

  /// The version of this program.
  package var newest: Int { migrations.map(\.version).max() ?? 0 }
}

extension String {
  /// The statements with the name of the schema.
  fileprivate func filled(_ schema: String) -> String {
    var parts: [Substring] = []
    var rest = self[...]
    while let range = rest.firstRange(of: "{schema}") {
      parts.append(rest[..<range.lowerBound])
      rest = rest[range.upperBound...]
    }
    parts.append(rest)
    return parts.joined(separator: schema)
  }
}
