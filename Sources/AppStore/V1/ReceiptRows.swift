// The transactions of version 1 bodies from before `unified_receipt`: usually one object, sometimes an array.

/// Transactions from one object or an array of objects. They are written in the form in which they were received.
public struct ReceiptRows: JSONRepresentable, Hashable {
  /// The transactions, in no particular order. An element that is not an object is skipped.
  public let rows: [LatestReceiptInfo]
  /// The JSON as received.
  public let jsonValue: JSON

  /// Creates rows with one transaction, written as an object.
  public init(_ row: LatestReceiptInfo) {
    rows = [row]
    jsonValue = row.jsonValue
  }

  /// The usual kind: an object.
  public static var jsonKind: JSONKind { .object }

  /// Converts an object or an array; nil for any other value.
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

  /// Returns the fields without their documented type, at `path` or `path[index]`.
  public static func oddFields(in value: JSON, at path: String) -> [OddField] {
    if case .array = value { return [LatestReceiptInfo].oddFields(in: value, at: path) }
    return LatestReceiptInfo.oddFields(in: value, at: path)
  }
}
