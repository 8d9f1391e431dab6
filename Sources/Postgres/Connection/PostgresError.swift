// The error of a statement or a connection.

/// An error that PostgreSQL or its client library reported. It names no row.
package struct PostgresError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The SQLSTATE, or an empty text if the connection failed.
  /// https://www.postgresql.org/docs/current/errcodes-appendix.html
  package var code: String
  /// The attempted operation, such as `write notifications`.
  package var operation: String
  /// The server's message, on one line.
  package var message: String
  /// Whether the connection is unusable.
  package var isConnectionLost: Bool

  /// `could not write notifications: message (SQLSTATE 53100)`
  package var description: String {
    "could not \(operation): \(message)" + (code.isEmpty ? "" : " (SQLSTATE \(code))")
  }

  /// Another process has written the same records.
  package static let fenced = "MR001"

  /// Whether the same rows may be written later: the server is down, full or busy, or another process was faster.
  package var isTemporary: Bool {
    if isConnectionLost || code.isEmpty || code == Self.fenced { return true }
    // Connection exceptions, transaction rollbacks, insufficient resources, operator intervention, system errors, and a
    // lock that was not available.
    return ["08", "40", "53", "57", "58"].contains(code.prefix(2)) || code == "55P03" || code == "25P03"
  }

  /// The action to take without a connection.
  static let connectionRemedy = "check postgres.url, and that the database runs and accepts this user"

  /// The action to take.
  package var remedy: String {
    if code == Self.fenced { return "none: another process has written the same records" }
    if code == "53100" {
      return "free space on the disk of the database, or enlarge it; the rows are written without a restart"
    }
    if code.hasPrefix("42") {
      return "grant this user the rights in docs/postgres.md, or run millrace postgres migrate"
    }
    return isConnectionLost || code.isEmpty
      ? Self.connectionRemedy
      : "see the database's log; nothing of the transaction was written"
  }
}
