// The mark that a lane commits with its offsets, for the next owner.

internal import KafkaClient

/// A part of the commit metadata, after an ``OffsetMark``:
/// `<owner>;<losses>;<owner>,…;<timer>,…;<timer>,…;<timer>,…;<offset>,…;<offset>,…;<offset>,…`. Metadata without it means
/// that the lane ended cleanly. Earlier versions wrote `3;` before it, without an offset mark.
struct PoisonMark: Sendable, Hashable {
  /// The id of the ownership that wrote the mark.
  var owner: UInt32
  /// The number of earlier consecutive ownerships that ended uncleanly in a process that is known to have survived.
  var losses: Int
  /// Earlier consecutive ownerships that ended uncleanly and are not known to be losses, oldest first.
  var unclean: [UInt32]
  /// Timers of the lane that must not fire. The mark of every source contains them, because timers belong to no source.
  var poisonedTimers: [UInt64]
  /// Timers of the lane that were with a handler.
  var timers: [UInt64]
  /// Timers of the lane that were with a handler at the unclean end before.
  var suspectedTimers: [UInt64]
  /// Offsets in this source whose records must not run, oldest first.
  var poisoned: [Int64]
  /// Offsets in this source whose records were with a handler, oldest first.
  var inFlight: [Int64]
  /// Offsets in this source whose records were with a handler at the unclean end before, oldest first.
  var suspected: [Int64]

  /// The number of ownerships to keep. Three are enough to find a poisoned record.
  static let mostUnclean = 8

  init(
    owner: UInt32, losses: Int = 0, unclean: [UInt32], poisonedTimers: [UInt64] = [], timers: [UInt64] = [],
    suspectedTimers: [UInt64] = [], poisoned: [Int64] = [], inFlight: [Int64], suspected: [Int64] = []
  ) {
    self.owner = owner
    self.losses = min(losses, Self.mostUnclean)
    self.unclean = unclean.suffix(Self.mostUnclean)
    self.poisonedTimers = poisonedTimers
    self.timers = timers
    self.suspectedTimers = suspectedTimers
    self.poisoned = poisoned
    self.inFlight = inFlight
    self.suspected = suspected
  }

  /// Reads metadata. Nil if the lane ended cleanly or another program wrote it, which is no reason to suspect a record.
  init?(_ metadata: String) {
    let fields = metadata.split(separator: ";", omittingEmptySubsequences: false)
    let parts: [Substring]
    switch fields.first {
    case Substring(OffsetMark.version): parts = Array(fields.dropFirst(OffsetMark.fields))
    case "3": parts = Array(fields.dropFirst())
    default: return nil
    }
    guard parts.count == 9, let owner = UInt32(parts[0]), let losses = Int(parts[1]), losses >= 0,
      let unclean = Self.numbers(parts[2], UInt32.self), let poisonedTimers = Self.numbers(parts[3], UInt64.self),
      let timers = Self.numbers(parts[4], UInt64.self), let suspectedTimers = Self.numbers(parts[5], UInt64.self),
      let poisoned = Self.numbers(parts[6], Int64.self), let inFlight = Self.numbers(parts[7], Int64.self),
      let suspected = Self.numbers(parts[8], Int64.self)
    else { return nil }
    self.init(
      owner: owner, losses: losses, unclean: unclean, poisonedTimers: poisonedTimers, timers: timers,
      suspectedTimers: suspectedTimers, poisoned: poisoned, inFlight: inFlight, suspected: suspected)
  }

  private static func numbers<Number: FixedWidthInteger>(_ text: Substring, _ type: Number.Type) -> [Number]? {
    let numbers = text.split(separator: ",").map { Number($0) }
    return numbers.contains(nil) ? nil : numbers.compactMap { $0 }
  }

  /// Returns metadata of at most ``CommittedOffset/maximumMetadataBytes`` bytes. Timers use at most half of it. The
  /// newest offsets are omitted if there is no room.
  func metadata(after offset: OffsetMark = OffsetMark()) -> String {
    let most = CommittedOffset.maximumMetadataBytes
    var text = "\(offset.text);\(owner);\(losses);\(unclean.map(String.init).joined(separator: ","));"
    // The separators that follow need a byte each.
    Self.append(poisonedTimers, to: &text, limit: most / 2)
    text += ";"
    Self.append(timers, to: &text, limit: most / 2)
    text += ";"
    Self.append(suspectedTimers, to: &text, limit: most / 2)
    text += ";"
    Self.append(poisoned, to: &text, limit: most - 2)
    text += ";"
    Self.append(inFlight, to: &text, limit: most - 1)
    text += ";"
    Self.append(suspected, to: &text, limit: most)
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
