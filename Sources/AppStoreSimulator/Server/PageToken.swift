// `revision` and `paginationToken`: opaque to callers, authenticated, and valid for one query only.

internal import AppStore
internal import Crypto

/// The end of a page.
struct PagePosition: Sendable, Hashable, Comparable {
  /// The time by which the list is sorted.
  var moment: Timestamp
  /// Orders elements with the same time.
  var sequence: Int64

  static func < (left: PagePosition, right: PagePosition) -> Bool {
    (left.moment, left.sequence) < (right.moment, right.sequence)
  }
}

/// Creates page tokens and reads them.
struct PageTokens: Sendable {
  /// The reason a token was rejected.
  enum Refusal: Error, Sendable, Hashable {
    case notOurs
    case expired
    case otherQuery
  }

  /// The page size of every paged endpoint: 20 records.
  static let pageSize = 20

  private static let length = 8 + 8 + 8 + 8
  private static let sealLength = 8
  private let key: SymmetricKey

  /// With the same seed, tokens of an earlier run remain valid.
  init(seed: UInt64) {
    key = SymmetricKey(data: SHA256.hash(data: Array("page tokens \(seed)".utf8)))
  }

  /// Returns a token for the elements after `position` in the response to `query`.
  func token(after position: PagePosition, query: String, now: Timestamp) -> String {
    var bytes = Array(SHA256.hash(data: Array(query.utf8)).prefix(8))
    for value in [position.moment.millisecondsSince1970, position.sequence, now.millisecondsSince1970] {
      bytes.append(contentsOf: (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * Int64($0))) })
    }
    return String(decoding: Base64.encodeURL(bytes + seal(bytes)), as: UTF8.self)
  }

  /// Returns the position that a token represents.
  ///
  /// - Parameter lifetime: how long a token is valid; nil for unlimited.
  func position(
    _ token: String, query: String, lifetime: Duration?, now: Timestamp
  ) throws(Refusal) -> PagePosition {
    guard let bytes = Base64.decodeURL(Array(token.utf8)), bytes.count == Self.length + Self.sealLength,
      seal(Array(bytes.prefix(Self.length))) == Array(bytes.suffix(Self.sealLength))
    else { throw .notOurs }
    let numbers = [8, 16, 24].map { start in
      bytes[start..<start + 8].reduce(Int64(0)) { $0 << 8 | Int64($1) }
    }
    guard bytes.prefix(8).elementsEqual(SHA256.hash(data: Array(query.utf8)).prefix(8)) else { throw .otherQuery }
    if let lifetime, now - Timestamp(millisecondsSince1970: numbers[2]) >= lifetime { throw .expired }
    return PagePosition(moment: Timestamp(millisecondsSince1970: numbers[0]), sequence: numbers[1])
  }

  private func seal(_ bytes: [UInt8]) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key).prefix(Self.sealLength))
  }
}

/// A page of a sorted list.
struct Page<Element>: Sendable where Element: Sendable {
  let elements: [Element]
  let hasMore: Bool
  /// The position after which the next page begins: the last element, or the start of this page if it is empty.
  let end: PagePosition

  /// Creates the page after `start`.
  ///
  /// - Parameters:
  ///   - elements: in ascending or descending order of their positions.
  ///   - start: nil for the first page.
  init(
    of elements: some Sequence<Element>, after start: PagePosition?, descending: Bool = false,
    position: (Element) -> PagePosition
  ) {
    var page: [Element] = []
    for element in elements {
      if let start {
        let mine = position(element)
        guard descending ? mine < start : start < mine else { continue }
      }
      page.append(element)
      if page.count > PageTokens.pageSize { break }
    }
    hasMore = page.count > PageTokens.pageSize
    if hasMore { page.removeLast() }
    self.elements = page
    let none = Timestamp(millisecondsSince1970: descending ? .max : .min)
    end = page.last.map(position) ?? start ?? PagePosition(moment: none, sequence: descending ? .max : .min)
  }
}
