// The JSON Schemas of the decoded topics. They follow from the columns that rows are made of.

internal import AppStore

/// The schemas, which are also files in `topics/schemas`.
enum DecodedSchema {
  /// The schema of `appstore.decoded.notifications`.
  static let notifications = schema(
    DecoderWorker.notificationsTopic, "A row of appstore.decoded.notifications",
    "One notification. Times are RFC 3339 in UTC. Its record has the notification's key.", .notification)
  /// The schema of `appstore.decoded.transactions`.
  static let transactions = schema(
    DecoderWorker.transactionsTopic, "A row of appstore.decoded.transactions",
    "One token inside a notification: a transaction, a renewal info or an app transaction. Times are RFC 3339 in UTC. "
      + "Its record has the notification's key.", .token)

  /// Apple warns that prices are for no financial purpose (`price`, `renewalPrice`).
  private static let prices: Set<String> = ["price", "renewalPrice"]

  private static func schema(_ topic: String, _ title: String, _ text: String, _ columns: FlatColumns) -> JSONObject {
    var properties = JSONObject()
    for column in columns.columns {
      let description =
        column.description ?? "Apple's `\(column.name)`" + (column.kind == .json ? ", as JSON text." : ".")
        + (prices.contains(column.name) ? " Not for accounting: use the reports of App Store Connect." : "")
      var property: JSONObject = ["description": .string(description)]
      switch column.kind {
      case .text, .json: property["type"] = "string"
      case .integer, .number, .boolean: property["type"] = .string(column.kind.rawValue)
      case .time:
        property["type"] = "string"
        property["pattern"] = #"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$"#
      }
      properties[column.name] = .object(property)
    }
    return [
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "$id": .string("https://millrace.dev/schemas/\(topic).schema.json"),
      "title": .string(title), "description": .string(text),
      "type": "object", "additionalProperties": false,
      "required": .array(columns.columns.filter(\.isRequired).map { .string($0.name) }),
      "properties": .object(properties),
    ]
  }
}
