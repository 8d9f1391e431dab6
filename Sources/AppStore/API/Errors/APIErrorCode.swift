// The number in an error of the App Store Server API.

/// An error code of the App Store Server API (Error codes): the HTTP status, then four digits.
///
/// ``allKnown`` holds what Apple's documentation and libraries number. Five documented errors have no number anywhere
/// (`ConsumptionPercentageOutOfRangeError` is one): they arrive as unknown codes, with `errorMessage` to tell them.
public struct APIErrorCode: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int64

  /// Any value, known or not.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// The values that Apple documents, or its libraries know, in numerical order.
  public static let allKnown: [APIErrorCode] = factsByCode.keys.sorted { $0.rawValue < $1.rawValue }

  /// The HTTP status that the code begins with; nil when it begins with none.
  public var httpStatus: Int? {
    let status = rawValue / 10_000
    return (100...599).contains(status) ? Int(status) : nil
  }

  /// Apple's name of the error, `TransactionIdNotFoundError` for instance; nil for an unknown code.
  public var name: String? { Self.factsByCode[self]?.name }

  /// What happened, in a few words; nil for an unknown code.
  public var meaning: String? { Self.factsByCode[self]?.meaning }

  /// What has to happen before the same request can succeed.
  ///
  /// An unknown code is classified by the HTTP status it begins with. There, 403 is ``ErrorClass/never``: all refusals
  /// that Apple numbers so are about what the request asks for, not about the right to ask.
  public var errorClass: ErrorClass {
    if let facts = Self.factsByCode[self] { return facts.errorClass }
    guard let httpStatus, httpStatus != 403 else { return .never }
    return ErrorClass(httpStatus: httpStatus)
  }
}

extension APIErrorCode {
  /// What is known of one code.
  struct Facts: Sendable {
    let code: APIErrorCode
    let name: String
    let errorClass: ErrorClass
    let meaning: String

    init(_ code: APIErrorCode, _ name: String, _ errorClass: ErrorClass, _ meaning: String) {
      self.code = code
      self.name = name
      self.errorClass = errorClass
      self.meaning = meaning
    }
  }

  private static let factsByCode: [APIErrorCode: Facts] = {
    var table: [APIErrorCode: Facts] = [:]
    for facts in serverAPIFacts + retentionMessagingFacts { table[facts.code] = facts }
    return table
  }()
}
