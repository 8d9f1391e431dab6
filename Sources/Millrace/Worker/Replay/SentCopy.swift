// How a copy that was sent is known again: by the run that sent it and the place of what it is a copy of.

package import Kafka

/// One record that a run has sent again.
package struct SentCopy: Sendable, Hashable {
  /// `ce_replayid`.
  package var run: String
  /// Where the record first stood.
  package var first: RecordPosition

  package init(run: String, first: RecordPosition) {
    (self.run, self.first) = (run, first)
  }

  /// The header of copies in topics that are no worker's: `<topic>/<partition>/<offset>`.
  package static let sourceHeader = "ce_replayof"

  /// Reads what a copy says of itself; nil for a record that is none.
  package init?(_ record: ConsumerRecord) {
    func text(_ name: String) -> String? {
      record.headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
    }
    guard let run = text(Provenance.replayIDHeader) else { return nil }
    guard let source = text(Self.sourceHeader) else {
      self.init(run: run, first: Provenance(record).first)
      return
    }
    let parts = source.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, let partition = Int32(parts[1]), let offset = Int64(parts[2]) else { return nil }
    self.init(run: run, first: RecordPosition(topic: String(parts[0]), partition: partition, offset: offset))
  }

  /// The copies that stand in a partition now, of every run or of one.
  package static func all(
    in partition: TopicPartition, from start: StartOffset, of log: any RecordLog, run: String? = nil
  ) async throws -> Set<SentCopy> {
    let found = Gathered()
    try await log.scan(partition, from: start, to: .highWatermark, upTo: 1_000) { page in
      await found.add(page.compactMap { SentCopy($0) }.filter { run == nil || $0.run == run })
    }
    return await found.copies
  }

  private actor Gathered {
    var copies: Set<SentCopy> = []
    func add(_ more: [SentCopy]) { copies.formUnion(more) }
  }
}

extension NotificationOrigin {
  /// Headers that say how the record came, in place of what they said before.
  package func marking(_ headers: [RecordHeader]) -> [RecordHeader] {
    let mark = RecordHeader("ce_origin", rawValue)
    guard headers.contains(where: { $0.name == mark.name }) else { return headers + [mark] }
    return headers.map { $0.name == mark.name ? mark : $0 }
  }
}
