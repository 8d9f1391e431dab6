// What a lane writes beside its committed offsets, for whoever starts it next.

internal import Kafka

/// Commit metadata: `2;<owner>;<owner>,<owner>,…;<offset>,<offset>,…`. Empty metadata means that the lane ended in order.
struct PoisonMark: Sendable, Hashable {
  /// Names the ownership during which it was written.
  var owner: UInt32
  /// Those before it, in a row, that ended without order as far as its writer knew; the oldest first.
  var unclean: [UInt32]
  /// The offsets in this source that were with a handler, the oldest first.
  var inFlight: [Int64]

  /// More are of no use: three condemn.
  static let mostUnclean = 8

  init(owner: UInt32, unclean: [UInt32], inFlight: [Int64]) {
    self.owner = owner
    self.unclean = unclean.suffix(Self.mostUnclean)
    self.inFlight = inFlight
  }

  /// Reads metadata; nil where it is empty or of somebody else: no reason to distrust a record.
  init?(_ metadata: String) {
    let parts = metadata.split(separator: ";", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0] == "2", let owner = UInt32(parts[1]) else { return nil }
    let unclean = parts[2].split(separator: ",").map { UInt32($0) }
    let offsets = parts[3].split(separator: ",").map { Int64($0) }
    guard !unclean.contains(nil), !offsets.contains(nil) else { return nil }
    self.init(owner: owner, unclean: unclean.compactMap { $0 }, inFlight: offsets.compactMap { $0 })
  }

  /// At most ``CommittedOffset/maximumMetadataBytes`` bytes; the youngest offsets are left out where there is no room.
  var metadata: String {
    var text = "2;\(owner);\(unclean.map(String.init).joined(separator: ","));"
    var separator = ""
    for offset in inFlight.sorted() {
      let part = separator + String(offset)
      guard text.utf8.count + part.utf8.count <= CommittedOffset.maximumMetadataBytes else { break }
      text += part
      separator = ","
    }
    return text
  }
}
