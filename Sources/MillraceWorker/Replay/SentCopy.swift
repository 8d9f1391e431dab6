// Identifies copies that were already sent, by the run and by the position of the original record.

package import KafkaClient
package import MillraceRecords

/// One record that a run has sent again.
package struct SentCopy: Sendable, Hashable {
  /// The `ce_replayid` of the run.
  package var run: String
  /// The position of the original record.
  package var first: RecordPosition

  package init(run: String, first: RecordPosition) {
    (self.run, self.first) = (run, first)
  }

  /// Reads the headers of a copy. Returns nil for records that are not copies.
  package init?(_ record: ConsumerRecord) {
    func text(_ name: String) -> String? {
      record.headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
    }
    guard let run = text(DeliveryHistory.replayIDHeader) else { return nil }
    guard let source = text(DeliveryHistory.sourceHeader) else {
      self.init(run: run, first: DeliveryHistory(record).first)
      return
    }
    let parts = source.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, let partition = Int32(parts[1]), let offset = Int64(parts[2]) else { return nil }
    self.init(run: run, first: RecordPosition(topic: String(parts[0]), partition: partition, offset: offset))
  }

  /// Returns the copies in a partition, of all runs or of one.
  package static func all(
    in partition: TopicPartition, from start: StartOffset, of log: any RecordLog, run: String? = nil
  ) async throws -> Set<SentCopy> {
    try await log.fold(partition, from: start, into: []) { copies, page in
      copies.formUnion(page.compactMap { SentCopy($0) }.filter { run == nil || $0.run == run })
    }
  }
}

extension NotificationOrigin {
  /// Returns the headers with `ce_origin` set to this origin.
  func marking(_ headers: [RecordHeader]) -> [RecordHeader] {
    let mark = RecordHeader("ce_origin", rawValue)
    guard headers.contains(where: { $0.name == mark.name }) else { return headers + [mark] }
    return headers.map { $0.name == mark.name ? mark : $0 }
  }
}
