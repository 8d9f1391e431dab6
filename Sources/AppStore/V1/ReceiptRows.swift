// The transactions of version 1 bodies from before `unified_receipt`: one object as a rule, an array in some.

/// Transactions that came as one object or as an array of them, and go out as they came.
public struct ReceiptRows: JSONRepresentable, Hashable {
  /// The transactions, in no order. An element that is no object is left out.
  public let rows: [LatestReceiptInfo]
  /// As they came.
  public let jsonValue: JSON

  /// One transaction, written as an object.
  public init(_ row: LatestReceiptInfo) {
    rows = [row]
    jsonValue = row.jsonValue
  }

  /// An object, as a rule.
  public static var jsonKind: JSONKind { .object }

  /// The transactions of an object or an array; nil for anything else.
  public init?(jsonValue: JSON) {
    if let row = LatestReceiptInfo(jsonValue: jsonValue) {
      rows = [row]
    } else if let several = [LatestReceiptInfo](jsonValue: jsonValue) {
      rows = several
    } else {
      return nil
    }
    self.jsonValue = jsonValue
  }

  /// What is odd in the transactions, at `path` or `path[index]`.
  public static func oddFields(in value: JSON, at path: String) -> [OddField] {
    if case .array = value { return [LatestReceiptInfo].oddFields(in: value, at: path) }
    return LatestReceiptInfo.oddFields(in: value, at: path)
  }
}
