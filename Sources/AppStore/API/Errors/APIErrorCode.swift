// The error code in a response of the App Store Server API.

/// An error code of the App Store Server API (Error codes): the HTTP status followed by four digits.
///
/// ``allKnown`` contains the codes that Apple's documentation and libraries number. Five documented errors have no
/// published number, for example `ConsumptionPercentageOutOfRangeError`. They arrive as unknown codes; `errorMessage`
/// identifies them.
public struct APIErrorCode: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int64

  /// Creates a value, known or unknown.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// The codes that Apple documents or its libraries know, in numerical order.
  public static let allKnown: [APIErrorCode] = factsByCode.keys.sorted { $0.rawValue < $1.rawValue }

  /// The HTTP status that the code begins with; nil if it does not begin with one.
  public var httpStatus: Int? {
    let status = rawValue / 10_000
    return (100...599).contains(status) ? Int(status) : nil
  }

  /// Apple's name for the error, for example `TransactionIdNotFoundError`; nil for an unknown code.
  public var name: String? { Self.factsByCode[self]?.name }

  /// The meaning of the code, in a few words; nil for an unknown code.
  public var meaning: String? { Self.factsByCode[self]?.meaning }

  /// The condition under which the same request can succeed.
  ///
  /// An unknown code is classified by the HTTP status that it begins with. A 403 is then ``ErrorClass/never``, because
  /// all of Apple's numbered 403 errors concern the content of the request, not authorization.
  public var errorClass: ErrorClass {
    if let facts = Self.factsByCode[self] { return facts.errorClass }
    guard let httpStatus, httpStatus != 403 else { return .never }
    return ErrorClass(httpStatus: httpStatus)
  }
}

extension APIErrorCode {
  /// The facts about one code.
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
    for fact in facts { table[fact.code] = fact }
    return table
  }()
}
