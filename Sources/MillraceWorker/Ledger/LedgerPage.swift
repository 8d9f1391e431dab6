// Many notifications of one commit in one ledger record, because a record for each would cost more than handling it.
// See docs/adr/0020-what-is-done-in-one-commit-shares-a-record.md.

internal import AppStore

/// Notifications that were done in one commit and have no other record in the ledger topic.
struct LedgerPage: LedgerValue {
  /// The id of a page in a lane: 44 bits of milliseconds since 1970, then 20 bits that distinguish pages of one
  /// millisecond.
  struct ID: Sendable, Hashable {
    var value: UInt64

    init(value: UInt64) { self.value = value }

    init(_ name: LedgerEntry.Name) { value = name.bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    init(at time: Timestamp, _ salt: UInt32) {
      let milliseconds = UInt64(clamping: time.millisecondsSince1970)
      value = milliseconds << 20 | UInt64(salt & 0xF_FFFF)
    }

    /// The name of the page, most significant byte first.
    var bytes: [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

    /// The time when the page was written, in minutes since 1970.
    var minute: UInt32 { Handled.minute(of: Timestamp(millisecondsSince1970: Int64(value >> 20))) }
  }

  /// One notification.
  struct Line: Sendable, Hashable {
    var id: LedgerKey
    var digest: UInt32
    var minute: UInt32

    /// The ledger entry of the notification.
    var handled: Handled {
      var handled = Handled(.done(digest: digest), minute: minute)
      handled.isOnPage = true
      return handled
    }
  }

  /// The minimum number of notifications on a page. Fewer get records of their own, because a page takes memory too.
  static let fewest = 16

  var lines: [Line]

  init(lines: [Line]) { self.lines = lines }

  init(_ bytes: inout ByteReader) throws(LedgerRecordError) {
    lines = []
    lines.reserveCapacity(bytes.count / Self.lineBytes)
    while bytes.count > 0 {
      let id = try LedgerKey(&bytes)
      let minute: UInt32 = try bytes.integer()
      lines.append(Line(id: id, digest: try bytes.integer(), minute: minute))
    }
  }

  func write(to bytes: inout ByteWriter) {
    for line in lines {
      line.id.write(to: &bytes)
      bytes.put(line.minute)
      bytes.put(line.digest)
    }
  }

  static func check(_ bytes: inout ByteReader) throws(LedgerRecordError) {
    guard bytes.count.isMultiple(of: lineBytes) else { throw .malformed }
  }

  /// The id, the minute and the digest of a notification.
  private static let lineBytes = LedgerKey.byteCount + 8
}

extension Ledger {
  /// Splits the entries of one commit into a page and the rest.
  ///
  /// Only notifications that have no ledger record yet may be on a page. A record can be superseded by another one with
  /// the same key and removed by a tombstone; an entry on a page cannot.
  func paged(_ entries: [LedgerEntry]) -> (page: LedgerPage?, rest: [LedgerEntry]) {
    guard entries.count >= LedgerPage.fewest else { return (nil, entries) }
    func done(_ entry: LedgerEntry) -> LedgerPage.Line? {
      guard let handled: Handled = entry.content(), case .done(let digest) = handled.state else { return nil }
      return LedgerPage.Line(id: entry.name.digest, digest: digest, minute: handled.minute)
    }
    let lines = entries.map(done)
    let changed = Set(zip(entries, lines).filter { $0.name.kind == .handled && $1 == nil }.map(\.0.name))
    var page = LedgerPage(lines: [])
    var rest: [LedgerEntry] = []
    for (entry, line) in zip(entries, lines) {
      if let line, !changed.contains(entry.name), !isInKafka(line.id) {
        page.lines.append(line)
      } else {
        rest.append(entry)
      }
    }
    return page.lines.count >= LedgerPage.fewest ? (page, rest) : (nil, entries)
  }
}
