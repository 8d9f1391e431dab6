// The dead letters of all workers in little memory: what a list needs of each, no payload. A value.

internal import AppStore
internal import Kafka
internal import Millrace
internal import Operations

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// One dead letter on a list.
struct DeadLetterSummary: Sendable, Hashable {
  /// Names it in the whole deployment.
  struct Key: Sendable, Hashable {
    var worker: String
    var id: DeadLetterID
  }

  var key: Key
  var reason: String
  var detail: String
  var type: String
  var bundleId: String
  var environment: String
  /// What orders the notification: the first transaction of its purchase, where there is one.
  var subject: String
  var diedAt: Timestamp
  /// How often its handler ran.
  var attempts: Int
  /// What was done about it, in a word; `open` before.
  var state = DeadLetterEntry.open
  /// Who did it.
  var by: String?
  /// Whose command could not be carried out last, and why.
  var failure: String?

  /// What a search looks at, ready for it.
  let searched: [UInt8]

  var isOpen: Bool { state == DeadLetterEntry.open }

  static let maximumDetail = 160

  init?(_ record: ConsumerRecord, worker: String) {
    guard let letter = DeadLetter(record.headers) else { return nil }
    let envelope = NotificationEnvelope(record.headers)
    key = Key(worker: worker, id: DeadLetterID(lane: record.partition, offset: record.offset))
    (reason, diedAt) = (letter.reason, letter.at)
    detail = String(letter.detail.prefix(Self.maximumDetail))
    let name = envelope.notificationType ?? ""
    type = envelope.subtype.map { "\(name)/\($0.rawValue)" } ?? name
    bundleId = envelope.bundleId ?? ""
    environment = envelope.environment?.rawValue ?? ""
    subject = envelope.subject ?? record.key.flatMap { String(validating: $0, as: UTF8.self) } ?? ""
    attempts = Provenance(record).attempt
    // What cannot be in a query stands between the fields.
    searched = DeadLetterQuery.Needle.lowered(
      [subject, detail, type, reason, bundleId, worker].joined(separator: "\0"))
  }
}

/// What is asked for.
struct DeadLetterQuery: Sendable, Hashable {
  /// Which of them, by what was done.
  enum Standing: String, Sendable, Hashable, CaseIterable {
    case open
    case settled
    case all
  }

  var worker = ""
  var reason = ""
  var bundleId = ""
  var standing = Standing.open
  /// In any field.
  var text = ""

  var items: [(String, String)] {
    [
      ("worker", worker), ("reason", reason), ("app", bundleId), ("q", text),
      ("state", standing == .open ? "" : standing.rawValue),
    ]
  }

  init() {}

  init(_ fields: FormFields) {
    (worker, reason, bundleId, text) = (fields["worker"], fields["reason"], fields["app"], fields["q"])
    standing = Standing(rawValue: fields["state"]) ?? .open
  }

  /// Whether a letter is one of those that are asked for.
  /// - Parameter needle: ``text``, made ready once for many letters.
  func takes(_ letter: DeadLetterSummary, _ needle: Needle) -> Bool {
    (standing == .all || letter.isOpen == (standing == .open)) && (worker.isEmpty || letter.key.worker == worker)
      && (reason.isEmpty || letter.reason == reason) && (bundleId.isEmpty || letter.bundleId == bundleId)
      && (text.isEmpty || contains(letter, needle))
  }

  private func contains(_ letter: DeadLetterSummary, _ needle: Needle) -> Bool {
    needle.occurs(in: letter.searched) || needle.id == letter.key.id
      || letter.by.map { needle.occurs(in: Needle.lowered($0)) } ?? false
  }

  /// A text that is looked for in many, without regard to the case of ASCII letters.
  struct Needle: Sendable {
    private let bytes: [UInt8]
    /// The letter that the text names.
    let id: DeadLetterID?

    init(_ text: String) {
      bytes = Self.lowered(text)
      // Any other text is no name of a letter.
      id = try? DeadLetterID(text)
    }

    /// - Parameter text: As ``lowered(_:)`` makes it.
    func occurs(in text: [UInt8]) -> Bool {
      // By the C library: byte by byte a search among ten thousand letters spends its time here.
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

/// Every dead letter that fits, the newest kept.
struct DeadLetterShelf: Sendable {
  /// Dead letters that have the same cause.
  struct Group: Sendable, Hashable {
    var worker: String
    var reason: String
    var bundleId: String
    var open: Int
    var newest: Timestamp
    var oldest: Timestamp
  }

  /// One page of a list.
  struct Page: Sendable {
    var letters: [DeadLetterSummary]
    /// How many there are in all.
    var count: Int
    /// Behind this page.
    var hasMore: Bool
  }

  let capacity: Int
  private var letters: [DeadLetterSummary] = []
  /// Where in `letters` each is.
  private var places: [DeadLetterSummary.Key: Int] = [:]
  /// Places, sorted when somebody asks.
  private var newestFirst: [Int] = []
  private var isSorted = true
  private var operations: [String: OperationsLog] = [:]
  private var names: [String: String] = [:]
  /// Letters that did not fit.
  private(set) var dropped = 0

  init(capacity: Int) { self.capacity = capacity }

  var count: Int { letters.count }
  var openCount: Int { letters.reduce(0) { $0 + ($1.isOpen ? 1 : 0) } }
  var reasons: [String] { Set(letters.map(\.reason)).sorted() }
  var apps: [String] { Set(letters.map(\.bundleId)).filter { !$0.isEmpty }.sorted() }

  subscript(key: DeadLetterSummary.Key) -> DeadLetterSummary? { places[key].map { letters[$0] } }

  /// What was said about a letter, also about one that did not fit; nil: nothing.
  func standing(of key: DeadLetterSummary.Key) -> OperationsLog.Standing? {
    operations[key.worker]?.standing(of: OperationCommand.deadLetter(lane: key.id.lane, offset: key.id.offset))
  }

  /// Takes a letter in; the same one may come again.
  mutating func add(_ letter: DeadLetterSummary) {
    var letter = letter
    letter.reason = shared(letter.reason)
    letter.type = shared(letter.type)
    letter.bundleId = shared(letter.bundleId)
    letter.environment = shared(letter.environment)
    letter.key.worker = shared(letter.key.worker)
    settle(&letter)
    if let place = places[letter.key] {
      letters[place] = letter
    } else {
      places[letter.key] = letters.count
      newestFirst.append(letters.count)
      letters.append(letter)
    }
    isSorted = false
    // In portions, so that a full shelf is not sorted for each letter.
    if letters.count > capacity + capacity / 8 { trim() }
  }

  /// Takes a command or a result in.
  mutating func fold(_ record: OperationsRecord) {
    let (worker, item): (String, String)
    switch record {
    case .command(let command): (worker, item) = (command.worker, command.item)
    case .result(let result): (worker, item) = (result.worker, result.item)
    case .control: return
    }
    _ = operations[worker, default: OperationsLog(worker: worker)].fold(record)
    // Any other item is a replay.
    guard let id = try? DeadLetterID(item) else { return }
    let key = DeadLetterSummary.Key(worker: worker, id: id)
    guard let place = places[key] else { return }
    var letter = letters[place]
    settle(&letter)
    letters[place] = letter
  }

  /// Letters that were read from these topics are forgotten: they are read anew.
  mutating func removeAll() {
    self = DeadLetterShelf(capacity: capacity)
  }

  /// By cause, those with most open first.
  func groups() -> [Group] {
    var groups: [[String]: Group] = [:]
    for letter in letters where letter.isOpen {
      let name = [letter.key.worker, letter.reason, letter.bundleId]
      var group =
        groups[name]
        ?? Group(
          worker: letter.key.worker, reason: letter.reason, bundleId: letter.bundleId, open: 0, newest: letter.diedAt,
          oldest: letter.diedAt)
      group.open += 1
      group.newest = max(group.newest, letter.diedAt)
      group.oldest = min(group.oldest, letter.diedAt)
      groups[name] = group
    }
    return groups.values.sorted {
      $0.open != $1.open
        ? $0.open > $1.open : ($0.worker, $0.reason, $0.bundleId) < ($1.worker, $1.reason, $1.bundleId)
    }
  }

  /// A page of what is asked for, the newest first.
  mutating func page(_ query: DeadLetterQuery, from start: Int, count: Int) -> Page {
    sort()
    var page = Page(letters: [], count: 0, hasMore: false)
    let needle = DeadLetterQuery.Needle(query.text)
    for place in newestFirst where query.takes(letters[place], needle) {
      let letter = letters[place]
      if page.count >= start, page.letters.count < count { page.letters.append(letter) }
      page.count += 1
    }
    page.hasMore = page.count > start + page.letters.count
    return page
  }

  /// One storage for names that come again and again.
  private mutating func shared(_ name: String) -> String {
    if let known = names[name] { return known }
    if names.count < 10_000 { names[name] = name }
    return name
  }

  private func settle(_ letter: inout DeadLetterSummary) {
    guard let standing = standing(of: letter.key) else { return }
    (letter.state, letter.by, letter.failure) = standing.ofDeadLetter
  }

  private mutating func sort() {
    guard !isSorted else { return }
    let letters = letters
    newestFirst.sort { left, right in
      let times = (letters[left].diedAt, letters[right].diedAt)
      return times.0 != times.1 ? times.0 > times.1 : letters[left].key.id > letters[right].key.id
    }
    isSorted = true
  }

  private mutating func trim() {
    sort()
    dropped += letters.count - capacity
    letters = newestFirst.prefix(capacity).map { letters[$0] }
    newestFirst = Array(letters.indices)
    places = Dictionary(letters.enumerated().map { ($1.key, $0) }) { first, _ in first }
  }
}
