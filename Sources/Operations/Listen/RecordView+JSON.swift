// A record as one line of JSON, for scripts. Members have a fixed order; unknown values are omitted.

package import AppStore

extension RecordView {
  /// The record as a JSON object. Millrace's own dates are RFC 3339. Payloads are as Apple signed them, but the
  /// payloads of nested tokens are separate members.
  package var json: JSONObject {
    var json = JSONObject()
    json.set("type", type)
    json.set("subtype", subtype)
    json.set("status", status)
    json["topic"] = .string(topic)
    json["partition"] = .integer(Int64(partition))
    json["offset"] = .integer(offset)
    json.set("timestamp", writtenAt?.rfc3339)
    json["content"] = .string(content.rawValue)
    json.set("key", key)
    json.set("id", id)
    json.set("subject", subject)
    json.set("environment", environment)
    json.set("bundleId", bundleId)
    json.set("signedDate", signedDate?.rfc3339)
    json.set("origin", origin)
    json.set("refusal", refusal)
    json.set("worker", worker)
    json["attempts"] = attempts.map { .integer(Int64($0)) }
    json.set("due", due?.rfc3339)
    json.set("reason", reason)
    json.set("productId", productId)
    json.set("transactionId", transactionId)
    json.set("originalTransactionId", originalTransactionId)
    json["price"] = price.map { .integer($0) }
    json.set("currency", currency)
    json["size"] = .integer(Int64(size))
    json["payload"] = payload.map { .object($0) }
    json["transaction"] = transaction.map { .object($0) }
    json["renewalInfo"] = renewalInfo.map { .object($0) }
    json["appTransaction"] = appTransaction.map { .object($0) }
    json.set("text", text)
    if !problems.isEmpty { json["problems"] = .array(problems.map { .string($0) }) }
    return json
  }

  /// The record as one line of JSON, without a line feed.
  package var jsonLine: String { String(decoding: json.serialized(), as: UTF8.self) }
}

extension JSONObject {
  /// Sets a member unless the text is nil.
  mutating func set(_ name: String, _ text: String?) {
    if let text { self[name] = .string(text) }
  }
}
