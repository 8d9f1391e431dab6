// Asks millrace-postgres whether its database answers. It is a program of its own: no other one needs PostgreSQL's
// library.

import Foundation
import MillraceCore
import Operations

enum PostgresCheck {
  /// Returns the finding about the database; nil if none is configured.
  static func finding(_ configuration: MillraceConfiguration) -> DoctorFinding? {
    guard configuration.postgres.url != nil else { return nil }
    guard let program = PostgresCommand.program else {
      return DoctorFinding(.postgres, .skipped, "millrace-postgres is not installed here", of: "postgres.url")
    }
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = ["status", "--schema", "--json"] + (configuration.file.map { ["--config", $0] } ?? [])
    let errors = Pipe()
    (process.standardOutput, process.standardError) = (FileHandle.nullDevice, errors)
    do { try process.run() } catch {
      return DoctorFinding(.postgres, .failure, "\(program): \(error.localizedDescription)", of: "postgres.url")
    }
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus != 0 else {
      return DoctorFinding(.postgres, .good, "the database answers", of: "postgres.url")
    }
    let line = text.split(separator: "\n").last.map(String.init) ?? "status \(process.terminationStatus)"
    return DoctorFinding(
      .postgres, .failure, line, of: "postgres.url", remedy: "see what millrace postgres status prints")
  }
}
