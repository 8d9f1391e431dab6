// The samples of the protocol, and changes of them.

import AppStore
import Foundation
import Logging
import Synchronization
import TestEnvironment
import TestSupport

/// The files in `docs/http-workers/samples`.
enum Samples {
  struct File: Sendable {
    var name: String
    var json: JSON
  }

  private static let folder = "docs/http-workers/samples"

  /// The samples whose name begins with a word.
  static func named(_ prefix: String) throws -> [File] {
    try Project.names(in: folder).filter { $0.hasPrefix(prefix) }.map {
      File(name: $0, json: .object(try Project.json("\(folder)/\($0)")))
    }
  }
}

/// Random changes of a JSON value.
enum Mutation {
  private static let values: [JSON] = [
    .null, true, false, 0, 1, 7, -1, 91, 604_800, 604_801, .number("1.5"), .number("7.0"), .number("1e0"), "", "a", "A",
    "a-b", "a--b", "a.b", "1", "x/y",
    "2026-01-01T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00+02:00", "2026-01-01t00:00:00z", "Production",
    "getTransactionInfo", "lookUpOrderId", [], [1], ["a"], [:], ["a": 1], ["reason": "a"],
    ["transactionId": "1"], "02cad037-dd5f-4791-9d1c-14de185aa272", "02cad037-dd5f-4791-9d1c-14de185aa27g",
  ]
  private static let names = [
    "events", "state", "timers", "calls", "retry", "deadLetter", "name", "at", "payload", "operation", "arguments",
    "reason", "detail", "after", "data", "key", "transactionId", "environment", "other",
  ]

  static func of(_ json: JSON, using generator: inout SplitMix) -> JSON {
    func pick<Element>(_ elements: [Element]) -> Element { elements[Int(generator.next() % UInt64(elements.count))] }
    let roll = generator.next() % 10
    switch json {
    case .object(var object) where !object.members.isEmpty && roll > 0:
      let index = Int(generator.next() % UInt64(object.members.count))
      switch roll {
      case 1: object.members.remove(at: index)
      case 2: object.members[index].key = pick(names)
      case 3: object[pick(names)] = pick(values)
      default: object.members[index].value = of(object.members[index].value, using: &generator)
      }
      return .object(object)
    case .array(var elements) where !elements.isEmpty && roll > 0:
      let index = Int(generator.next() % UInt64(elements.count))
      switch roll {
      case 1: elements.remove(at: index)
      case 2: elements.append(pick(values))
      default: elements[index] = of(elements[index], using: &generator)
      }
      return .array(elements)
    case .object where roll == 1: return ["\(pick(names))": pick(values)]
    default: return pick(values)
    }
  }
}

/// Collects what is logged as a warning.
final class WarningLog: Sendable {
  private let state = Mutex<[String]>([])
  /// The messages so far, each with its metadata.
  var lines: [String] { state.withLock { $0 } }
  var logger: Logger { Logger(label: "warnings") { _ in Handler(log: self) } }

  private struct Handler: LogHandler {
    let log: WarningLog
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .warning

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let more = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      log.state.withLock { $0.append(([event.message.description] + more).joined(separator: " ")) }
    }
  }
}
