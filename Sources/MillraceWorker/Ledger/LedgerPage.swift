// Many notifications of one commit in one ledger record, because a record for each would cost more than handling it.
// See docs/adr/0020-what-is-done-in-one-commit-shares-a-record.md.

internal import AppStore

/// Notifications that were done in one commit and have no other record in the ledger topic.
struct LedgerPage: Sendable, Hashable {
  /// The id of a page in a lane: 44 bits of milliseconds since 1970, then 20 bits that distinguish pages of one
  /// millisecond.
  struct ID: Sendable, Hashable {
    var value: UInt64

    init(value: UInt64) { self.value = value }

    init(at time: Timestamp, _ salt: UInt32) {
      let milliseconds = UInt64(clamping: time.millisecondsSince1970)
      value = milliseconds << 20 | UInt64(salt & 0xF_FFFF)
    }

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
}

extension Ledger {
  /// Splits the entries of one commit into a page and the rest.
  ///
  /// Only notifications that have no ledger record yet may be on a page. A record can be superseded by another one with
  /// the same key and removed by a tombstone; an entry on a page cannot.
  func paged(_ entries: [LedgerEntry]) -> (page: LedgerPage?, rest: [LedgerEntry]) {
    guard entries.count >= LedgerPage.fewest else { return (nil, entries) }
    var changed: Set<LedgerKey> = []
    for case .handled(let id, let handled) in entries {
      if case .done? = handled?.state { continue }
      changed.insert(id)
    }
    var page = LedgerPage(lines: [])
    var rest: [LedgerEntry] = []
    for entry in entries {
      if case .handled(let id, let handled?) = entry, case .done(let digest) = handled.state, !changed.contains(id),
        !isInKafka(id)
      {
        page.lines.append(LedgerPage.Line(id: id, digest: digest, minute: handled.minute))
      } else {
        rest.append(entry)
      }
    }
    return page.lines.count >= LedgerPage.fewest ? (page, rest) : (nil, entries)
  }
}
