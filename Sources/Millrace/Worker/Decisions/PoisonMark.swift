// What a lane writes beside its committed offsets, for whoever starts it next.

internal import Kafka

/// Commit metadata: `1;<owner>;<unclean starts>;<offset>,<offset>,…`. Empty metadata means that the lane ended in order.
struct PoisonMark: Sendable, Hashable {
  /// Names the process that wrote it.
  var owner: UInt32
  /// Starts in a row, up to the owner's, that followed an end without order.
  var uncleanStarts: Int
  /// The offsets in this source that were with a handler, the oldest first.
  var inFlight: [Int64]

  init(owner: UInt32, uncleanStarts: Int, inFlight: [Int64]) {
    self.owner = owner
    self.uncleanStarts = uncleanStarts
    self.inFlight = inFlight
  }

  /// Reads metadata; nil where it is empty or of somebody else: no reason to distrust a record.
  init?(_ metadata: String) {
    let parts = metadata.split(separator: ";", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0] == "1", let owner = UInt32(parts[1]), let starts = Int(parts[2]), starts >= 0
    else { return nil }
    let offsets = parts[3].split(separator: ",").map { Int64($0) }
    guard !offsets.contains(nil) else { return nil }
    self.init(owner: owner, uncleanStarts: starts, inFlight: offsets.compactMap { $0 })
  }

  /// At most ``CommittedOffset/maximumMetadataBytes`` bytes; the youngest offsets are left out where there is no room.
  var metadata: String {
    var text = "1;\(owner);\(uncleanStarts);"
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
