// What pages have in common: items, and where the next one begins.

/// One page of a list.
public protocol APIPage: Sendable {
  /// What the list holds.
  associatedtype Item: Sendable
  /// The items of this page; all of them verified, unless their type says otherwise. May be empty while there are more pages.
  var items: [Item] { get }
  /// What Apple calls `revision` or `paginationToken`: asks for the page after this one.
  var cursor: String? { get }
  /// Whether there is a page after this one now.
  var hasMore: Bool { get }
}
