// A deployment with two workers, and records as its processes write them.

import AppStore
import Foundation
import KafkaClient
import MillraceCore
import MillraceRecords
import TestEnvironment

@testable import Console

enum Deployment {
  static let now = Timestamp(millisecondsSince1970: 1_767_225_600_000)
  static let lanes = 4

  static func configuration(_ change: (inout MillraceConfiguration) -> Void = { _ in }) -> MillraceConfiguration {
    var configuration = MillraceConfiguration()
    configuration.topics.directory = Project.path("topics")
    configuration.topics.lanes = lanes
    configuration.console.port = 0
    configuration.console.proxy = .none
    for name in ["refunds", "consumption", "renewal-extensions"] {
      configuration.workers[name, default: WorkerEntry()].retryDelays = [.seconds(60), .seconds(600)]
    }
    change(&configuration)
    return configuration
  }

  static func catalog() throws -> TopicCatalog { try TopicCatalog.load(configuration()) }

  static func topics() throws -> ConsoleTopics { ConsoleTopics(try catalog(), configuration()) }
}

/// Sample records, one for each kind.
enum Written {
  static func notification(
    _ id: String, key: String, type: String = "REFUND", family: String = "refunds", at time: Timestamp
  ) -> ProducerRecord {
    ProducerRecord(
      topic: "appstore.notifications.\(family)", key: Array(key.utf8), value: Array("e30.e30.e30".utf8),
      headers: headers(id, type, key, time), timestamp: time.millisecondsSince1970)
  }

  static func event(_ name: String, worker: String, key: String, about: String, at time: Timestamp) -> ProducerRecord {
    ProducerRecord(
      topic: "appstore.events.\(worker)", key: Array(key.utf8), value: Array("{\"email\":\"a@b.c\"}".utf8),
      headers: [
        RecordHeader("ce_type", "dev.millrace.\(worker).\(name)"), RecordHeader("ce_notificationid", about),
        RecordHeader("ce_id", "event-\(about)"),
      ], timestamp: time.millisecondsSince1970)
  }

  static func deadLetter(
    _ id: String, key: String, worker: String = "refunds", reason: String = "handler-error",
    detail: String = "the database said no", lane: Int32? = nil, attempts: Int = 3,
    bundleId: String = "com.example.app",
    at time: Timestamp
  ) -> ProducerRecord {
    ProducerRecord(
      topic: "millrace.\(worker).dead-letters", partition: lane, key: Array(key.utf8), value: Array("e30.e30.e30".utf8),
      headers: headers(id, "REFUND", key, time, bundleId: bundleId) + [
        RecordHeader("millrace-reason", reason), RecordHeader("millrace-detail", detail),
        RecordHeader("millrace-remedy", "look at the database"),
        RecordHeader("millrace-died-at", "\(time.millisecondsSince1970)"),
        RecordHeader("millrace-attempt", "\(attempts)"), RecordHeader("millrace-cause", "first it was slow"),
      ], timestamp: time.millisecondsSince1970)
  }

  /// A call's entry in a ledger.
  /// - Parameters:
  /// - name: The name of the effect.
  /// - code: The ledger's code: 1 for intended, 2 for ended; nil for a tombstone.
  static func call(_ name: String, code: UInt8?, worker: String, key: String, at time: Timestamp) -> ProducerRecord {
    let since = withUnsafeBytes(of: UInt64(time.millisecondsSince1970).bigEndian) { Array($0) }
    return ProducerRecord(
      topic: "millrace.\(worker).ledger", partition: Murmur2.partition(of: Array(key.utf8), among: Deployment.lanes),
      key: Array("e\(name)".utf8), value: code.map { [1, $0] + since + [0, 0, 0, 0] + Array("told".utf8) },
      timestamp: time.millisecondsSince1970)
  }

  static func delayed(_ id: String, key: String, row: String, due: Timestamp, at time: Timestamp) -> ProducerRecord {
    ProducerRecord(
      topic: "millrace.refunds.retry.\(row)", key: Array(key.utf8), value: Array("e30.e30.e30".utf8),
      headers: headers(id, "REFUND", key, time) + [
        RecordHeader("millrace-due", "\(due.millisecondsSince1970)"), RecordHeader("millrace-attempt", "1"),
      ], timestamp: time.millisecondsSince1970)
  }

  private static func headers(
    _ id: String, _ type: String, _ key: String, _ time: Timestamp, bundleId: String = "com.example.app"
  ) -> [RecordHeader] {
    [
      RecordHeader("content-type", "application/jose"), RecordHeader("ce_specversion", "1.0"),
      RecordHeader("ce_id", id), RecordHeader("ce_type", "com.apple.appstore.notification.v2.\(type)"),
      RecordHeader("ce_source", "appstore/Production/\(bundleId)"), RecordHeader("ce_subject", key),
      RecordHeader("ce_time", time.rfc3339), RecordHeader("ce_origin", "post"),
    ]
  }
}

extension ProducerRecord {
  /// This record as a consumer reads it.
  func read(lane: Int32 = 0, offset: Int64 = 0) -> ConsumerRecord {
    ConsumerRecord(
      topic: topic, partition: partition ?? lane, offset: offset, timestamp: timestamp, key: key, value: value,
      headers: headers)
  }
}
