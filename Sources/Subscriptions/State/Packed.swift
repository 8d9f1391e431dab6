// The compact form of a state in the ledger and in memory: numbered fields, each with its length, so that a version can
// skip the fields of a later one.

internal import AppStore

/// The value of a packed field.
enum PackedValue: Sendable, Hashable {
  case number(Int64)
  case text(String)
  /// Fields within a field.
  case fields([UInt8])
}

/// Bytes that are not packed fields.
struct PackedError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The offset of the mistake.
  var offset: Int
  var description: String { "the stored state cannot be read at byte \(offset); run the version that wrote it" }
}

/// Writes fields. A number takes 1 to 9 bytes, an identifier of digits or a UUID less than its text.
struct PackedWriter: Sendable {
  private(set) var bytes: [UInt8] = []

  /// The form of a value, in the lower three bits of a field's tag.
  fileprivate enum Form: UInt64 {
    case number, digits, uuid, text, fields, word
  }

  mutating func put(_ field: Int, _ value: PackedValue?) {
    switch value {
    case nil: break
    case .number(let number):
      tag(field, .number)
      put(UInt64(bitPattern: number << 1 ^ number >> 63))
    case .text(let text):
      if let word = PackedWords.numbers[text] {
        tag(field, .word)
        put(word)
      } else if let number = UInt64(text), String(number) == text {
        tag(field, .digits)
        put(number)
      } else if let uuid = Hexadecimal.uuid(Array(text.utf8)) {
        tag(field, .uuid)
        bytes += uuid
      } else {
        tag(field, .text)
        put(UInt64(text.utf8.count))
        bytes += text.utf8
      }
    case .fields(let fields):
      tag(field, .fields)
      put(UInt64(fields.count))
      bytes += fields
    }
  }

  private mutating func tag(_ field: Int, _ form: Form) { put(UInt64(field) << 3 | form.rawValue) }

  private mutating func put(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}

/// Reads fields.
struct PackedReader: Sendable {
  private(set) var fields: [Int: PackedValue] = [:]

  init(_ bytes: some Collection<UInt8>) throws(PackedError) {
    let bytes = Array(bytes)
    var at = 0
    func number() throws(PackedError) -> UInt64 {
      var (number, shift): (UInt64, UInt64) = (0, 0)
      while at < bytes.count, shift < 64 {
        let byte = bytes[at]
        at += 1
        number |= UInt64(byte & 0x7F) << shift
        if byte < 0x80 { return number }
        shift += 7
      }
      throw PackedError(offset: at)
    }
    func slice(_ count: UInt64) throws(PackedError) -> ArraySlice<UInt8> {
      guard count <= UInt64(bytes.count - at) else { throw PackedError(offset: at) }
      defer { at += Int(count) }
      return bytes[at..<at + Int(count)]
    }
    while at < bytes.count {
      let tag = try number()
      guard let form = PackedWriter.Form(rawValue: tag & 7), let field = Int(exactly: tag >> 3) else {
        throw PackedError(offset: at)
      }
      switch form {
      case .number:
        let number = try number()
        fields[field] = .number(Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1))
      case .digits: fields[field] = .text(String(try number()))
      case .uuid: fields[field] = .text(Hexadecimal.text(ofUUID: try slice(16)))
      case .text: fields[field] = .text(String(decoding: try slice(number()), as: UTF8.self))
      case .fields: fields[field] = .fields(Array(try slice(number())))
      case .word:
        guard let index = Int(exactly: try number()), PackedWords.all.indices.contains(index) else {
          throw PackedError(offset: at)
        }
        fields[field] = .text(PackedWords.all[index])
      }
    }
  }

  func number(_ field: Int) -> Int64? { if case .number(let number)? = fields[field] { number } else { nil } }
  func time(_ field: Int) -> Timestamp? { number(field).map { Timestamp(millisecondsSince1970: $0) } }
  func text(_ field: Int) -> String? { if case .text(let text)? = fields[field] { text } else { nil } }
  func nested(_ field: Int) throws(PackedError) -> PackedReader? {
    guard case .fields(let bytes)? = fields[field] else { return nil }
    return try PackedReader(bytes)
  }

  /// Fills the fields that are absent from another set of fields.
  mutating func complete(from other: PackedReader) {
    for (field, value) in other.fields where fields[field] == nil { fields[field] = value }
  }
}

extension PackedValue {
  init(_ time: Timestamp) { self = .number(time.millisecondsSince1970) }
}

/// UUIDs in 16 bytes.
enum Hexadecimal {
  private static let hyphens: Set<Int> = [8, 13, 18, 23]
  private static let digits = Array("0123456789abcdef".utf8)

  /// Returns the bytes of a UUID in lower case with hyphens; nil for another text.
  static func uuid(_ text: [UInt8]) -> [UInt8]? {
    guard text.count == 36 else { return nil }
    var nibbles: [UInt8] = []
    nibbles.reserveCapacity(32)
    for (index, byte) in text.enumerated() {
      if hyphens.contains(index) {
        guard byte == UInt8(ascii: "-") else { return nil }
      } else if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
        nibbles.append(byte - UInt8(ascii: "0"))
      } else if byte >= UInt8(ascii: "a"), byte <= UInt8(ascii: "f") {
        nibbles.append(byte - UInt8(ascii: "a") + 10)
      } else {
        return nil
      }
    }
    return stride(from: 0, to: 32, by: 2).map { nibbles[$0] << 4 | nibbles[$0 + 1] }
  }

  static func text(ofUUID bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    for byte in bytes {
      if hyphens.contains(text.count) { text.append(UInt8(ascii: "-")) }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// Frequent texts, stored by their place in this list. Texts may only be appended.
enum PackedWords {
  static let all = [
    "SUBSCRIBED", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS", "OFFER_REDEEMED", "DID_RENEW", "EXPIRED",
    "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED", "PRICE_INCREASE", "REFUND", "REFUND_DECLINED", "CONSUMPTION_REQUEST",
    "RENEWAL_EXTENDED", "REVOKE", "TEST", "RENEWAL_EXTENSION", "REFUND_REVERSED", "EXTERNAL_PURCHASE_TOKEN",
    "ONE_TIME_CHARGE", "RESCIND_CONSENT", "METADATA_UPDATE", "MIGRATION", "PRICE_CHANGE", "INITIAL_BUY",
    "RESUBSCRIBE", "DOWNGRADE", "UPGRADE", "AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED", "VOLUNTARY", "BILLING_RETRY",
    "GRACE_PERIOD", "PENDING", "ACCEPTED", "BILLING_RECOVERY", "PRODUCT_NOT_FOR_SALE", "SUMMARY", "FAILURE",
    "UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER", "FAMILY_SHARED", "PURCHASED", "FREE_TRIAL", "PAY_AS_YOU_GO",
    "PAY_UP_FRONT", "ONE_TIME", "USD", "EUR", "GBP", "JPY", "CNY", "CAD", "AUD", "INR", "BRL", "MXN", "KRW", "CHF",
    "Production", "Sandbox",
  ]

  static let numbers = Dictionary(
    all.enumerated().map { ($1, UInt64($0)) }, uniquingKeysWith: { first, _ in first })
}
