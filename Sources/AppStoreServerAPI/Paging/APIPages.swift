// Fetches pages with the same request, changing only the cursor. If the request changes, Apple responds with an error
// or with wrong data.

package import AppStore

/// A list whose pages are fetched on demand.
///
/// All pages come from the environment of the first one. Each page is one call with its own time limit. An error ends
/// the iteration; a new one can start at the cursor of the last page.
public struct APIPages<Page: APIPage>: AsyncSequence, Sendable {
  /// A page and its response metadata.
  public typealias Element = APIResponse<Page>
  /// The error that ends an iteration early.
  public typealias Failure = APIError

  typealias Fetch = @Sendable (_ cursor: String?, AppStoreEnvironment?) async throws(APIError) -> APIResponse<Page>

  let environment: AppStoreEnvironment?
  let start: String?
  let fetch: Fetch

  /// Creates an iterator that starts at the sequence's cursor, or at the first page.
  public func makeAsyncIterator() -> Iterator {
    Iterator(fetch: fetch, environment: environment, cursor: start)
  }

  /// Returns the pages after a cursor, for the same request.
  ///
  /// - Parameters:
  ///   - cursor: The cursor of the last page; nil to start where this sequence starts.
  ///   - environment: The environment of the last page; nil uses the environment of this sequence.
  package func continued(after cursor: String?, in environment: AppStoreEnvironment?) -> APIPages {
    APIPages(environment: environment ?? self.environment, start: cursor ?? start, fetch: fetch)
  }

  /// The items of all pages in order.
  public var items: APIItems<Page> { APIItems(pages: self) }

  /// An iterator over pages.
  public struct Iterator: AsyncIteratorProtocol {
    let fetch: Fetch
    var environment: AppStoreEnvironment?
    var cursor: String?
    var isAtEnd = false

    /// Returns the next page, or nil after the last.
    public mutating func next() async throws(APIError) -> APIResponse<Page>? { try await next(isolation: #isolation) }

    /// Returns the next page, or nil after the last.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(APIError) -> APIResponse<Page>? {
      if isAtEnd { return nil }
      // An error ends the iteration.
      isAtEnd = true
      let response = try await fetch(cursor, environment)
      environment = response.environment
      cursor = response.value.cursor
      isAtEnd = !response.value.hasMore
      return response
    }
  }
}

/// The items of a list, fetched page by page.
public struct APIItems<Page: APIPage>: AsyncSequence, Sendable {
  /// One item.
  public typealias Element = Page.Item
  /// The error that ends an iteration early.
  public typealias Failure = APIError

  let pages: APIPages<Page>

  /// Creates an iterator that starts where the pages start.
  public func makeAsyncIterator() -> Iterator { Iterator(pages: pages.makeAsyncIterator()) }

  /// An iterator over items.
  public struct Iterator: AsyncIteratorProtocol {
    var pages: APIPages<Page>.Iterator
    var page: ArraySlice<Page.Item> = []

    /// Returns the next item, or nil after the last.
    public mutating func next() async throws(APIError) -> Page.Item? { try await next(isolation: #isolation) }

    /// Returns the next item, or nil after the last.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> Page.Item? {
      while page.isEmpty {
        guard let next = try await pages.next(isolation: actor) else { return nil }
        page = next.value.items[...]
      }
      return page.popFirst()
    }
  }
}
