// Decodes a record's value without verifying it.

internal import AppStore
internal import AppStoreSignature
internal import MillraceRecords

/// The decoded value of a record.
enum RecordPayload: Sendable {
  /// The decoded payloads of the tokens inside a notification.
  struct Inner: Sendable {
    var transaction: JWSTransactionDecodedPayload?
    var renewalInfo: JWSRenewalInfoDecodedPayload?
    var appTransaction: AppTransaction?
  }

  case v2(ResponseBodyV2DecodedPayload, Inner)
  case v1(ResponseBodyV1)
  /// Another JSON object.
  case object(JSONObject)
  /// Anything else, with the reason.
  case foreign(String)

  init(_ value: [UInt8]) {
    if value.first == UInt8(ascii: "{") {
      do {
        let body = try ResponseBodyV1(parsing: value)
        self = body.json["notification_type"] == nil ? .object(body.json) : .v1(body)
      } catch {
        self = .foreign("the value is invalid JSON: \(error)")
      }
      return
    }
    do {
      let payload = ResponseBodyV2DecodedPayload(json: try UnverifiedToken(parsing: value).payload)
      let inner = Inner(
        transaction: Self.payload(of: payload.data?.signedTransactionInfo),
        renewalInfo: Self.payload(of: payload.data?.signedRenewalInfo),
        appTransaction: Self.payload(of: payload.appData?.signedAppTransactionInfo))
      self = .v2(payload, inner)
    } catch {
      self = .foreign(value.isEmpty ? "the value is empty" : "the value is not a token: \(error.message)")
    }
  }

  /// The payload of a nested token; nil if the token is missing or cannot be decoded.
  private static func payload<Payload: AppStoreObject>(of token: String?) -> Payload? {
    guard let token else { return nil }
    do {
      return Payload(json: try UnverifiedToken(parsing: token.utf8).payload)
    } catch {
      return nil
    }
  }
}

extension RecordView {
  /// Adds the fields of a version 2 payload. Values from headers take precedence.
  mutating func fill(from payload: ResponseBodyV2DecodedPayload, _ inner: RecordPayload.Inner) {
    type = type ?? payload.notificationType?.rawValue
    subtype = subtype ?? payload.subtype?.rawValue
    id = id ?? payload.notificationUUID
    environment = environment ?? payload.environment?.rawValue
    bundleId = bundleId ?? payload.bundleId
    signedDate = signedDate ?? payload.signedDate
    productId = inner.transaction?.productId ?? inner.renewalInfo?.productId ?? payload.summary?.productId
    transactionId = inner.transaction?.transactionId
    originalTransactionId = inner.transaction?.originalTransactionId ?? inner.renewalInfo?.originalTransactionId
    price = inner.transaction?.price ?? inner.renewalInfo?.renewalPrice
    currency = inner.transaction?.currency ?? inner.renewalInfo?.currency
    transaction = inner.transaction?.json
    renewalInfo = inner.renewalInfo?.json
    appTransaction = inner.appTransaction?.json
    subject =
      subject ?? originalTransactionId ?? payload.summary?.requestIdentifier
      ?? payload.externalPurchaseToken?.externalPurchaseId ?? inner.appTransaction?.appTransactionId
    self.payload = payload.json.without(
      ["data": ["signedTransactionInfo", "signedRenewalInfo"], "appData": ["signedAppTransactionInfo"]])
  }

  /// Adds the fields of a version 1 body. Values from headers take precedence.
  mutating func fill(from body: ResponseBodyV1) {
    type = type ?? body.notification_type?.rawValue
    environment = environment ?? body.appStoreEnvironment?.rawValue
    bundleId = bundleId ?? body.bundleId
    originalTransactionId = body.orderingKey
    subject = subject ?? originalTransactionId
    let rows = body.receiptRows.filter { $0.original_transaction_id == originalTransactionId }
    let newest = rows.max {
      ($0.purchaseDate?.millisecondsSince1970 ?? 0) < ($1.purchaseDate?.millisecondsSince1970 ?? 0)
    }
    productId = newest?.product_id ?? body.auto_renew_product_id
    transactionId = newest?.transaction_id
    // Receipts are long and of little use to a reader. A password must never be shown, even if one is in the record.
    var shown = body.json.without(["unified_receipt": ["latest_receipt"]])
    for name in ["latest_receipt", "latest_expired_receipt", "password"] { shown[name] = nil }
    payload = shown
  }
}

extension RecordView {
  /// Adds the fields of an event, of a row of a table, or of a decoded record. Values from headers take precedence.
  mutating func fill(from object: JSONObject) {
    func flag(_ name: String, _ yes: String, _ no: String) -> String? {
      if case .bool(let value)? = object[name] { value ? yes : no } else { nil }
    }
    type = type ?? object.text("notificationType")
    subtype = subtype ?? object.text("subtype")
    id = id ?? object.text("notificationUUID")
    environment = environment ?? object.text("environment")
    bundleId = bundleId ?? object.text("bundleId")
    signedDate = signedDate ?? object.text("signedDate").flatMap { Timestamp(rfc3339: $0) }
    (productId, transactionId) = (object.text("productId"), object.text("transactionId"))
    originalTransactionId = object.text("originalTransactionId")
    subject = subject ?? originalTransactionId
    status = object.text("status") ?? flag("owned", "owned", "not owned") ?? flag("revoked", "revoked", "not revoked")
    price = object.number("price")
    currency = object.text("currency")
    payload = object
  }
}

extension JSONObject {
  /// The object without some members of its nested objects.
  func without(_ names: [String: [String]]) -> JSONObject {
    var result = self
    for (part, members) in names {
      guard case .object(var object)? = result[part] else { continue }
      for member in members { object[member] = nil }
      result[part] = .object(object)
    }
    return result
  }
}
