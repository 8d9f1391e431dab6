// Page after page with one and the same question: only the cursor changes. Apple answers a changed question with an error
// or, worse, with something else.

internal import AppStore

/// The pages of a list, fetched as they are asked for.
///
/// The environment of the first page is that of all others. Each page is one call with its own limit of time; an error
/// ends the iteration, and a new one may begin at the cursor of the last page seen.
public struct APIPages<Page: APIPage>: AsyncSequence, Sendable {
  /// A page and what came with it.
  public typealias Element = APIResponse<Page>
  /// What ends an iteration early.
  public typealias Failure = APIError

  typealias Fetch = @Sendable (_ cursor: String?, AppStoreEnvironment?) async throws(APIError) -> APIResponse<Page>

  let environment: AppStoreEnvironment?
  let start: String?
  let fetch: Fetch

  /// Starts at the cursor that the sequence was made with, or at the first page.
  public func makeAsyncIterator() -> Iterator {
    Iterator(fetch: fetch, environment: environment, cursor: start)
  }

  /// The items of all pages, one after the other.
  public var items: APIItems<Page> { APIItems(pages: self) }

  /// Goes from page to page.
  public struct Iterator: AsyncIteratorProtocol {
    let fetch: Fetch
    var environment: AppStoreEnvironment?
    var cursor: String?
    var isAtEnd = false

    /// The next page; nil after the last.
    public mutating func next() async throws(APIError) -> APIResponse<Page>? { try await next(isolation: #isolation) }

    /// The next page; nil after the last.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(APIError) -> APIResponse<Page>? {
      if isAtEnd { return nil }
      // Whatever is thrown, the iteration is over.
      isAtEnd = true
      let response = try await fetch(cursor, environment)
      environment = response.environment
      cursor = response.value.cursor
      isAtEnd = !response.value.hasMore
      return response
    }
  }
}

/// The items of a list, page after page.
public struct APIItems<Page: APIPage>: AsyncSequence, Sendable {
  /// One item.
  public typealias Element = Page.Item
  /// What ends an iteration early.
  public typealias Failure = APIError

  let pages: APIPages<Page>

  /// Starts where the pages start.
  public func makeAsyncIterator() -> Iterator { Iterator(pages: pages.makeAsyncIterator()) }

  /// Goes from item to item.
  public struct Iterator: AsyncIteratorProtocol {
    var pages: APIPages<Page>.Iterator
    var page: ArraySlice<Page.Item> = []

    /// The next item; nil after the last.
    public mutating func next() async throws(APIError) -> Page.Item? { try await next(isolation: #isolation) }

    /// The next item; nil after the last.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> Page.Item? {
      while page.isEmpty {
        guard let next = try await pages.next(isolation: actor) else { return nil }
        page = next.value.items[...]
      }
      return page.popFirst()
    }
  }
}
