// What a lane writes beside its committed offsets, for whoever starts it next.

internal import Kafka

/// Commit metadata: `2;<owner>;<losses>;<owner>,…;<timer>,…;<timer>,…;<offset>,…;<offset>,…`. Empty metadata means that
/// the lane ended in order.
struct PoisonMark: Sendable, Hashable {
  /// Names the ownership during which it was written.
  var owner: UInt32
  /// Of the ownerships before it, in a row, that ended without order: how many are known to have ended in a process that
  /// lived on.
  var losses: Int
  /// Those of which that is not known; the oldest first.
  var unclean: [UInt32]
  /// The timers of the lane that are not to fire any more. Every source's mark names them: they are of none.
  var condemnedTimers: [UInt64]
  /// The timers of the lane that were with a handler.
  var timers: [UInt64]
  /// The offsets in this source that are not to run any more, the oldest first.
  var condemned: [Int64]
  /// The offsets in this source that were with a handler, the oldest first.
  var inFlight: [Int64]

  /// More are of no use: three condemn.
  static let mostUnclean = 8

  init(
    owner: UInt32, losses: Int = 0, unclean: [UInt32], condemnedTimers: [UInt64] = [], timers: [UInt64] = [],
    condemned: [Int64] = [], inFlight: [Int64]
  ) {
    self.owner = owner
    self.losses = min(losses, Self.mostUnclean)
    self.unclean = unclean.suffix(Self.mostUnclean)
    self.condemnedTimers = condemnedTimers
    self.timers = timers
    self.condemned = condemned
    self.inFlight = inFlight
  }

  /// Reads metadata; nil where it is empty or of somebody else: no reason to distrust a record.
  init?(_ metadata: String) {
    let parts = metadata.split(separator: ";", omittingEmptySubsequences: false)
    guard parts.count == 8, parts[0] == "2", let owner = UInt32(parts[1]), let losses = Int(parts[2]), losses >= 0,
      let unclean = Self.numbers(parts[3], UInt32.self), let condemnedTimers = Self.numbers(parts[4], UInt64.self),
      let timers = Self.numbers(parts[5], UInt64.self), let condemned = Self.numbers(parts[6], Int64.self),
      let inFlight = Self.numbers(parts[7], Int64.self)
    else { return nil }
    self.init(
      owner: owner, losses: losses, unclean: unclean, condemnedTimers: condemnedTimers, timers: timers,
      condemned: condemned, inFlight: inFlight)
  }

  private static func numbers<Number: FixedWidthInteger>(_ text: Substring, _ type: Number.Type) -> [Number]? {
    let numbers = text.split(separator: ",").map { Number($0) }
    return numbers.contains(nil) ? nil : numbers.compactMap { $0 }
  }

  /// At most ``CommittedOffset/maximumMetadataBytes`` bytes; timers may fill a half, and the youngest offsets are left out
  /// where there is no room.
  var metadata: String {
    var text = "2;\(owner);\(losses);\(unclean.map(String.init).joined(separator: ","));"
    // The separators behind them need a byte each.
    Self.append(condemnedTimers, to: &text, limit: CommittedOffset.maximumMetadataBytes / 2)
    text += ";"
    Self.append(timers, to: &text, limit: CommittedOffset.maximumMetadataBytes / 2)
    text += ";"
    Self.append(condemned, to: &text, limit: CommittedOffset.maximumMetadataBytes - 1)
    text += ";"
    Self.append(inFlight, to: &text, limit: CommittedOffset.maximumMetadataBytes)
    return text
  }

  private static func append(_ numbers: [some FixedWidthInteger], to text: inout String, limit: Int) {
    var separator = ""
    for number in numbers.sorted() {
      let part = separator + String(number)
      guard text.utf8.count + part.utf8.count <= limit else { break }
      text += part
      separator = ","
    }
  }
}
