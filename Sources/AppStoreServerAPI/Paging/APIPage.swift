// The common part of all pages: the items and the cursor of the next page.

/// One page of a list.
public protocol APIPage: Sendable {
  /// The type of the items.
  associatedtype Item: Sendable
  /// The items of this page. All are verified unless their type says otherwise. May be empty even if there are more
  /// pages.
  var items: [Item] { get }
  /// Apple's `revision` or `paginationToken`, which requests the next page.
  var cursor: String? { get }
  /// Whether there are more pages at present.
  var hasMore: Bool { get }
}
