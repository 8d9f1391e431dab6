// An in-memory index of the dead letters of all workers. It keeps what a list shows, without payloads and causes. A value.

internal import AppStore
internal import KafkaClient
internal import MillraceRecords
internal import MillraceWorker
internal import Operations

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A search for dead letters.
struct DeadLetterQuery: Sendable, Hashable {
  /// A filter by state.
  enum Status: String, Sendable, Hashable, CaseIterable {
    case open
    case settled
    case all
  }

  var worker = ""
  var reason = ""
  var bundleId = ""
  var status = Status.open
  /// The text to find in any field.
  var text = ""

  var items: [(String, String)] {
    [
      ("worker", worker), ("reason", reason), ("app", bundleId), ("q", text),
      ("state", status == .open ? "" : status.rawValue),
    ]
  }

  init(_ fields: FormFields) {
    (worker, reason, bundleId, text) = (fields["worker"], fields["reason"], fields["app"], fields["q"])
    status = Status(rawValue: fields["state"]) ?? .open
  }

  /// Returns whether a dead letter matches the query.
  /// - Parameter needle: ``text``, prepared once for many dead letters.
  /// - Parameter searched: The text of the dead letter, prepared with ``SearchText/lowered(_:)``.
  func takes(_ letter: DeadLetterEntry, _ searched: [UInt8], _ needle: SearchText) -> Bool {
    (status == .all || letter.isOpen == (status == .open)) && (worker.isEmpty || letter.key.worker == worker)
      && (reason.isEmpty || letter.reason == reason) && (bundleId.isEmpty || letter.bundleId == bundleId)
      && (text.isEmpty || needle.occurs(in: searched) || needle.id == letter.id
        || letter.by.map { needle.occurs(in: SearchText.lowered($0)) } ?? false)
  }

  /// A search text that is compared without regard to the case of ASCII letters.
  struct SearchText: Sendable {
    private let bytes: [UInt8]
    /// The dead letter that the text identifies, if it is an id.
    let id: DeadLetterID?

    init(_ text: String) {
      bytes = Self.lowered(text)
      // Text that is not an id matches by its bytes only.
      id = try? DeadLetterID(text)
    }

    /// Returns whether the text occurs in another one.
    /// - Parameter text: The other text, prepared with ``lowered(_:)``.
    func occurs(in text: [UInt8]) -> Bool {
      // Uses the C library: a search among 10 000 dead letters spends most of its time here.
      text.withUnsafeBytes { text in
        bytes.withUnsafeBytes { wanted in
          guard let first = wanted.first, let start = wanted.baseAddress else { return true }
          guard var place = text.baseAddress else { return false }
          var left = text.count - wanted.count + 1
          while left > 0, let hit = memchr(place, Int32(first), left) {
            if memcmp(hit, start, wanted.count) == 0 { return true }
            left -= place.distance(to: UnsafeRawPointer(hit)) + 1
            place = UnsafeRawPointer(hit) + 1
          }
          return false
        }
      }
    }

    static func lowered(_ text: String) -> [UInt8] {
      text.utf8.map { byte in byte >= 65 && byte <= 90 ? byte | 0x20 : byte }
    }
  }
}

/// An index of the newest dead letters, up to a capacity.
struct DeadLetterIndex: Sendable {
  /// One page of a list.
  struct Page: Sendable {
    var letters: [DeadLetterEntry]
    /// The number of matches on all pages.
    var count: Int
    /// Whether older matches follow this page.
    var hasMore: Bool
  }

  static let maximumDetail = 160

  let capacity: Int
  private var letters: [DeadLetterEntry] = []
  /// The text that a search examines, in lower case, for each of `letters`.
  private var searched: [[UInt8]] = []
  /// Indices into `letters`.
  private var places: [DeadLetterKey: Int] = [:]
  /// Indices into `letters`, sorted on demand.
  private var newestFirst: [Int] = []
  private var isSorted = true
  /// The choices of the filters; nil after a change.
  private var choices: (reasons: [String], apps: [String])?
  private var operations: [String: OperationsLog] = [:]
  private var names: [String: String] = [:]
  /// The number of dead letters that were dropped because of the capacity.
  private(set) var dropped = 0

  init(capacity: Int) { self.capacity = capacity }

  var count: Int { letters.count }
  var openCount: Int { letters.reduce(0) { $0 + ($1.isOpen ? 1 : 0) } }

  subscript(key: DeadLetterKey) -> DeadLetterEntry? { places[key].map { letters[$0] } }

  /// Returns the status of a dead letter, even of a dropped one; nil if there is no command for it.
  func status(of key: DeadLetterKey) -> OperationsLog.Status? {
    operations[key.worker]?.status(of: OperationCommand.deadLetter(lane: key.id.lane, offset: key.id.offset))
  }

  /// Adds or replaces a dead letter.
  mutating func add(_ letter: DeadLetterEntry) {
    var letter = letter
    letter.reason = shared(letter.reason)
    letter.remedy = shared(letter.remedy)
    letter.type = letter.type.map { shared($0) }
    letter.bundleId = letter.bundleId.map { shared($0) }
    letter.environment = letter.environment.map { shared($0) }
    letter.key.worker = shared(letter.key.worker)
    letter.first.topic = shared(letter.first.topic)
    letter.detail = String(letter.detail.prefix(Self.maximumDetail))
    let notification = letter.notificationID ?? ""
    (letter.causes, letter.answer, letter.sentBy, letter.notificationID) = ([], nil, nil, nil)
    letter.settle(status(of: letter.key))
    choices = nil
    // A NUL separates the fields because a query cannot contain one.
    let text = DeadLetterQuery.SearchText.lowered(
      [
        letter.subject ?? "", notification, letter.detail, letter.type ?? "", letter.reason, letter.bundleId ?? "",
        letter.key.worker,
      ].joined(separator: "\0"))
    if let place = places[letter.key] {
      (letters[place], searched[place]) = (letter, text)
    } else {
      places[letter.key] = letters.count
      newestFirst.append(letters.count)
      letters.append(letter)
      searched.append(text)
    }
    isSorted = false
    // Trim in batches, because sorting a full index for each addition is too slow.
    if letters.count > capacity + capacity / 8 { trim() }
  }

  /// Applies a command or a result.
  mutating func fold(_ record: OperationsRecord) {
    let (worker, item): (String, String)
    switch record {
    case .command(let command): (worker, item) = (command.worker, command.item)
    case .result(let result): (worker, item) = (result.worker, result.item)
    case .control: return
    }
    _ = operations[worker, default: OperationsLog(worker: worker)].fold(record)
    // Items of other kinds are replays.
    guard let id = try? DeadLetterID(item) else { return }
    let key = DeadLetterKey(worker: worker, id: id)
    if let place = places[key] { letters[place].settle(status(of: key)) }
  }

  /// Returns the open dead letters by cause.
  func groups() -> DeadLetterGroups {
    letters.reduce(into: DeadLetterGroups()) { groups, letter in
      guard letter.isOpen else { return }
      groups.add(
        .init(worker: letter.key.worker, reason: letter.reason, app: letter.bundleId ?? ""), isOpen: true,
        at: letter.diedAt)
    }
  }

  /// Returns the reasons and apps by which a list can be filtered.
  mutating func filters() -> (reasons: [String], apps: [String]) {
    if let choices { return choices }
    let found = (Set(letters.map(\.reason)).sorted(), Set(letters.compactMap(\.bundleId)).sorted())
    choices = found
    return found
  }

  /// Returns a page of matches, the newest first.
  mutating func page(_ query: DeadLetterQuery, from start: Int, count: Int) -> Page {
    sort()
    var page = Page(letters: [], count: 0, hasMore: false)
    let needle = DeadLetterQuery.SearchText(query.text)
    for place in newestFirst where query.takes(letters[place], searched[place], needle) {
      let letter = letters[place]
      if page.count >= start, page.letters.count < count { page.letters.append(letter) }
      page.count += 1
    }
    page.hasMore = page.count > start + page.letters.count
    return page
  }

  /// Returns one shared copy of a name that recurs, to save memory.
  private mutating func shared(_ name: String) -> String {
    if let known = names[name] { return known }
    if names.count < 10_000 { names[name] = name }
    return name
  }

  private mutating func sort() {
    guard !isSorted else { return }
    let letters = letters
    newestFirst.sort { left, right in
      let times = (letters[left].diedAt, letters[right].diedAt)
      return times.0 != times.1 ? times.0 > times.1 : letters[left].id > letters[right].id
    }
    isSorted = true
  }

  private mutating func trim() {
    sort()
    dropped += letters.count - capacity
    choices = nil
    searched = newestFirst.prefix(capacity).map { searched[$0] }
    letters = newestFirst.prefix(capacity).map { letters[$0] }
    newestFirst = Array(letters.indices)
    places = Dictionary(letters.enumerated().map { ($1.key, $0) }) { first, _ in first }
  }
}
