// A page of the quarantine: the bodies that match, the newest first. Pure.

internal import AppStore
internal import MillraceRecords
internal import Operations

/// The filters of the list.
struct QuarantineQuery: Sendable, Hashable {
  var reason = ""
  var bundleId = ""

  var items: [(String, String)] { [("reason", reason), ("app", bundleId)] }

  init(_ fields: FormFields) { (reason, bundleId) = (fields["reason"], fields["app"]) }

  func takes(_ entry: QuarantineEntry) -> Bool {
    (reason.isEmpty || entry.reasonText == reason) && (bundleId.isEmpty || entry.bundleId == bundleId)
  }
}

/// A page of bodies with the choices of its filters.
struct QuarantineListing: Sendable {
  var query: QuarantineQuery
  var start: Int
  /// The bodies of the page.
  var entries: [QuarantineEntry]
  /// The number of bodies that match.
  var count: Int
  /// The number of older offsets that were not read.
  var older: Int64
  var reasons: [String]
  var apps: [String]
  var now: Timestamp

  init(_ inventory: QuarantineInventory, _ query: QuarantineQuery, from start: Int, count size: Int, now: Timestamp) {
    let all = inventory.entries
    let matching = Self.matching(inventory, query)
    (self.query, self.start, self.now) = (query, start, now)
    entries = Array(matching.dropFirst(start).prefix(size))
    (count, older) = (matching.count, inventory.olderOffsets)
    reasons = Set(all.map(\.reasonText)).sorted()
    // Anyone can post a body that names an app, so that there may be any number of names.
    apps = Array(Set(all.compactMap(\.bundleId)).sorted().prefix(Self.shownApps))
  }

  private static let shownApps = 100

  /// Returns the matching bodies, the newest first.
  static func matching(_ inventory: QuarantineInventory, _ query: QuarantineQuery) -> [QuarantineEntry] {
    inventory.entries.reversed().filter { query.takes($0) }
  }
}

extension QuarantineEntry {
  var reasonText: String { reason?.rawValue ?? "unknown" }
  var link: String { Link.to(["quarantine", id]) }

  /// Advice about the reason.
  var remedy: HTML {
    switch reason {
    case .appNotConfigured:
      "If the app is yours, add it under <code>apps</code>, restart the ingress, and resubmit the body."
    case .environmentNotConfigured:
      "If you want these, add the environment to <code>apps[].environments</code>, restart the ingress, and resubmit the body."
    case .chain, .innerChain:
      "If Apple has announced new certificates, add their root to <code>trust.roots</code>, and resubmit the body. Otherwise it is a forgery."
    case .innerMismatch, .innerForged: "Apple has never sent such a body. Find out who did."
    default: "Resubmit it after you have fixed the cause. A body that is still refused stays here."
    }
  }
}
