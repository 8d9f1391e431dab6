// Many notifications of one commit in one record of the ledger's topic: a record for each would cost more than handling
// it does. See docs/adr/0020-what-is-done-in-one-commit-shares-a-record.md.

internal import AppStore

/// Notifications that were done in one commit, known to the ledger's topic by nothing else.
struct LedgerPage: Sendable, Hashable {
  /// Names a page of a lane: 44 bits of milliseconds since 1970, then 20 that tell pages of one moment apart.
  struct ID: Sendable, Hashable {
    var value: UInt64

    init(value: UInt64) { self.value = value }

    init(at time: Timestamp, _ salt: UInt32) {
      let milliseconds = UInt64(clamping: time.millisecondsSince1970)
      value = milliseconds << 20 | UInt64(salt & 0xF_FFFF)
    }

    /// When it was written, in minutes since 1970.
    var minute: UInt32 { Handled.minute(of: Timestamp(millisecondsSince1970: Int64(value >> 20))) }
  }

  /// One notification.
  struct Line: Sendable, Hashable {
    var id: LedgerKey
    var digest: UInt32
    var minute: UInt32

    /// What it says.
    var handled: Handled {
      var handled = Handled(.done(digest: digest), minute: minute)
      handled.isOnPage = true
      return handled
    }
  }

  /// Fewer get records of their own: a page costs memory too.
  static let fewest = 16

  var lines: [Line]
}

extension Ledger {
  /// What of one commit's entries goes on a page, and what is left. Only what the ledger's topic knows nothing of yet may
  /// stand on one: what has a record of its own is superseded by another of the same key, and removed by a tombstone.
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
