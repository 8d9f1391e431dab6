/// `postgres`: the database that `millrace-postgres` writes to.
package struct PostgresSettings: Sendable, Hashable {
  /// A group of rows that the process writes.
  package enum Table: String, Sendable, Hashable, CaseIterable {
    /// The current state of each subscription.
    case subscriptions
    /// The current state of each purchase that does not renew.
    case purchases
    /// The transactions that were refunded or reinstated.
    case entitlements
    /// The events of all workers.
    case events
    /// The decoded notifications.
    case notifications
    /// The decoded tokens inside notifications.
    case transactions
  }

  /// The consumer group of the processes, without the deployment's prefix.
  package static let group = "millrace.postgres"

  /// The connection URI, without a password; nil if no database is configured.
  package var url: String?
  /// The file with the password.
  package var passwordFile: String?
  /// The file with the certificate authorities of the server; nil if the URI names it.
  package var certificateAuthorityFile: String?
  /// The schema of the tables.
  package var schema = "millrace"
  /// The tables that are written.
  package var tables = Table.allCases
  /// How many rows one transaction writes at most.
  package var batchRows = 5_000
  /// Whether each transaction notifies listeners.
  package var notify = false

  /// The defaults.
  package init() {}
}

extension MillraceConfiguration {
  static let postgresKeys: [Setting<MillraceConfiguration>] = [
    Setting(
      "postgres.url", \.postgres.url, .nonEmptyText,
      "The connection URI of libpq, for example `postgresql://millrace@db.internal/app?sslmode=verify-full`. Without a "
        + "password."),
    Setting(
      "postgres.passwordFile", \.postgres.passwordFile, .path, "File with the password. Read at each connection."),
    Setting(
      "postgres.certificateAuthorityFile", \.postgres.certificateAuthorityFile, .path,
      "PEM file of the certificates that the server's certificate must lead to, for `sslmode=verify-full`. Unset: "
        + "`sslrootcert` of the URI."),
    Setting(
      "postgres.schema", \.postgres.schema, .nonEmptyText,
      "The schema of the tables. `millrace postgres migrate` creates it."),
    Setting(
      "postgres.tables", \.postgres.tables, .list(of: .choice),
      "The tables that are written. Events, notifications and transactions grow without limit."),
    Setting(
      "postgres.batchRows", \.postgres.batchRows, .integer(1...100_000), "How many rows one transaction writes at most."
    ),
    Setting(
      "postgres.notify", \.postgres.notify, .boolean,
      "Whether each transaction that changes subscriptions or purchases sends a `NOTIFY` with their ids. PostgreSQL "
        + "commits such transactions one after the other."),
  ]

  /// Returns the rules between keys of `postgres` that the configuration violates.
  func brokenPostgresRelations(
    _ problem: (_ what: String, _ key: String, _ remedy: String) -> MillraceError.Problem
  ) -> [MillraceError.Problem] {
    var problems: [MillraceError.Problem] = []
    if let url = postgres.url {
      if !url.hasPrefix("postgresql://"), !url.hasPrefix("postgres://") {
        problems.append(
          problem(
            "not a connection URI", "postgres.url", "begin it with postgresql://, for example postgresql://host/db"))
      }
      let user = Self.authority(of: url).split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
      if (user.count == 2 && user[0].contains(":")) || url.contains("password=") {
        problems.append(
          problem("the URI contains a password", "postgres.url", "move it to a file and set postgres.passwordFile"))
      }
    }
    let isName =
      postgres.schema.utf8.count <= 63 && postgres.schema.utf8.first.map { $0 == 95 || (97...122).contains($0) } == true
      && postgres.schema.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 95 }
    if !isName {
      problems.append(
        problem("not a schema name", "postgres.schema", "use lower-case letters, digits and underscores, at most 63"))
    }
    if postgres.tables.isEmpty {
      problems.append(problem("there is no table to write", "postgres.tables", "list at least one, or remove the key"))
    }
    return problems
  }
}
