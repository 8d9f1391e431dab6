// One connection of libpq. Its calls block, so they run on a thread of their own, one after the other.
// https://www.postgresql.org/docs/current/libpq.html

internal import CPQ
internal import Dispatch
package import MillraceCore

/// A connection to PostgreSQL.
package final class PostgresConnection: Sendable {
  /// A row of a result, as text.
  package typealias Row = [String?]

  private let queue = DispatchQueue(label: "millrace.postgres")
  private let native: Native

  /// Sendable: after the initializer only closures on `queue` use the pointer, and the last reference frees it.
  private final class Native: @unchecked Sendable {
    let pointer: OpaquePointer
    init(_ pointer: OpaquePointer) { self.pointer = pointer }
    deinit { PQfinish(pointer) }
  }

  private init(_ pointer: OpaquePointer) { native = Native(pointer) }

  /// Connects to the database of the settings.
  ///
  /// A transaction in which the client is idle for ten seconds is ended by the server, so a process that was stopped
  /// keeps no locks.
  /// - Throws: ``PostgresError``; ``MillraceError`` if the password's file cannot be read.
  package static func open(_ settings: PostgresSettings, application: String) async throws -> PostgresConnection {
    guard let url = settings.url else {
      throw MillraceError(
        .configuration, "no database is configured", at: "postgres.url",
        remedy: "set the connection URI of the database")
    }
    var parameters = [
      // A URI is accepted as the name of the database, if it is the first parameter.
      ("dbname", url), ("application_name", application), ("connect_timeout", "10"), ("client_encoding", "UTF8"),
      ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"), ("tcp_user_timeout", "30000"),
    ]
    if let file = settings.certificateAuthorityFile { parameters.append(("sslrootcert", file)) }
    if let file = settings.passwordFile {
      let password: SecretFile
      do { password = try SecretFile(file) } catch { throw error.under(key: "postgres.passwordFile") }
      parameters.append(("password", password.withBytes { String(decoding: $0, as: UTF8.self) }))
    }
    let connection = try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "millrace.postgres.connect").async { [parameters] in
        continuation.resume(with: Result { try connect(parameters) })
      }
    }
    try await connection.execute(
      """
      SET idle_in_transaction_session_timeout = '10s'; SET lock_timeout = '60s'; SET timezone = 'UTC';
      SET client_min_messages = 'warning'
      """, to: "prepare the session")
    return connection
  }

  private static func connect(_ parameters: [(String, String)]) throws(PostgresError) -> PostgresConnection {
    let keywords = CStrings(parameters.map(\.0))
    let values = CStrings(parameters.map(\.1))
    guard let pointer = PQconnectdbParams(keywords.pointers, values.pointers, 1) else {
      throw PostgresError(code: "", operation: "connect", message: "out of memory", isConnectionLost: true)
    }
    guard PQstatus(pointer) == CONNECTION_OK else {
      defer { PQfinish(pointer) }
      throw PostgresError(
        code: "", operation: "connect", message: text(PQerrorMessage(pointer)), isConnectionLost: true)
    }
    // Notices are not needed; libpq would print them on the standard error stream.
    PQsetNoticeProcessor(pointer, { _, _ in }, nil)
    return PostgresConnection(pointer)
  }

  /// Runs statements, and returns the rows of the last one.
  /// - Throws: ``PostgresError``.
  @discardableResult
  package func execute(_ sql: String, to operation: String) async throws -> [Row] {
    try await run { try Self.rows(PQexec($0, sql), $0, operation) }
  }

  /// Runs one statement with parameters in text form, and returns its rows.
  /// - Throws: ``PostgresError``.
  package func query(_ sql: String, _ parameters: [String], to operation: String) async throws -> [Row] {
    try await run { pointer in
      let values = CStrings(parameters)
      return try Self.rows(
        PQexecParams(pointer, sql, Int32(parameters.count), nil, values.pointers, nil, nil, 0), pointer, operation)
    }
  }

  /// Runs `COPY … FROM STDIN` with rows in its text format.
  /// - Throws: ``PostgresError``.
  package func copy(_ sql: String, _ rows: [[UInt8]], to operation: String) async throws {
    try await run { pointer in
      let started = PQexec(pointer, sql)
      defer { PQclear(started) }
      guard PQresultStatus(started) == PGRES_COPY_IN else { throw Self.error(started, pointer, operation) }
      var isSent = true
      for buffer in rows where isSent {
        isSent = buffer.withUnsafeBytes { bytes in
          // Pieces of a megabyte: libpq copies each into a buffer of its own.
          stride(from: 0, to: bytes.count, by: 1 << 20).allSatisfy { start in
            let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + 1 << 20, bytes.count)])
            return PQputCopyData(
              pointer, piece.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(piece.count)) == 1
          }
        }
      }
      if isSent { isSent = PQputCopyEnd(pointer, nil) == 1 }
      var failure: PostgresError?
      while let result = PQgetResult(pointer) {
        if PQresultStatus(result) != PGRES_COMMAND_OK { failure = failure ?? Self.error(result, pointer, operation) }
        PQclear(result)
        if PQstatus(pointer) != CONNECTION_OK { break }
      }
      if let failure { throw failure }
      if !isSent { throw Self.error(nil, pointer, operation) }
    }
  }

  /// Returns the payloads of notifications that have arrived, after one question to the server.
  /// - Throws: ``PostgresError``.
  package func notifications() async throws -> [String] {
    try await run { pointer in
      _ = try Self.rows(PQexec(pointer, "SELECT 1"), pointer, "look for notifications")
      var payloads: [String] = []
      while let notification = PQnotifies(pointer) {
        payloads.append(notification.pointee.extra.map { String(cString: $0) } ?? "")
        PQfreemem(notification)
      }
      return payloads
    }
  }

  private func run<Value: Sendable>(
    _ body: @escaping @Sendable (OpaquePointer) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { [native] in continuation.resume(with: Result { try body(native.pointer) }) }
    }
  }

  private static func rows(
    _ result: OpaquePointer?, _ pointer: OpaquePointer, _ operation: String
  ) throws(PostgresError) -> [Row] {
    defer { PQclear(result) }
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: return []
    case PGRES_TUPLES_OK:
      return (0..<PQntuples(result)).map { row in
        (0..<PQnfields(result)).map { column in
          PQgetisnull(result, row, column) == 1 ? nil : PQgetvalue(result, row, column).map { String(cString: $0) }
        }
      }
    default: throw error(result, pointer, operation)
    }
  }

  private static func error(
    _ result: OpaquePointer?, _ pointer: OpaquePointer, _ operation: String
  ) -> PostgresError {
    // The detail and the context may contain a row.
    let message = PQresultErrorField(result, Int32(UInt8(ascii: "M"))) ?? PQerrorMessage(pointer)
    return PostgresError(
      code: text(PQresultErrorField(result, Int32(UInt8(ascii: "C")))), operation: operation, message: text(message),
      isConnectionLost: PQstatus(pointer) != CONNECTION_OK)
  }

  private static func text(_ pointer: UnsafePointer<CChar>?) -> String {
    guard let pointer else { return "" }
    return String(cString: pointer).split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  private static func text(_ pointer: UnsafeMutablePointer<CChar>?) -> String {
    text(pointer.map { UnsafePointer($0) })
  }
}

/// Texts as an array of C strings that ends with a null pointer.
private final class CStrings {
  private let copies: [UnsafeMutablePointer<CChar>]
  let pointers: [UnsafePointer<CChar>?]

  init(_ texts: [String]) {
    copies = texts.map { text in
      let bytes = text.utf8CString
      let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
      _ = UnsafeMutableBufferPointer(start: copy, count: bytes.count).initialize(from: bytes)
      return copy
    }
    pointers = copies.map { UnsafePointer($0) } + [nil]
  }

  deinit { for copy in copies { copy.deallocate() } }
}
