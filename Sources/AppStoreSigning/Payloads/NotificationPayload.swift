// The outer payload and the four parts it can contain. Apple's order of members and its omissions are preserved.
package import AppStore

/// The app, as the parts of a notification name it.
package struct PayloadApp {
  package var bundleId: String
  package var appAppleId: Int64
  package var bundleVersion: String
  package var environment: AppStoreEnvironment

  package init(bundleId: String, appAppleId: Int64, bundleVersion: String, environment: AppStoreEnvironment) {
    self.bundleId = bundleId
    self.appAppleId = appAppleId
    self.bundleVersion = bundleVersion
    self.environment = environment
  }
}

/// The single part that a notification contains.
package enum NotificationPart {
  case data(JSONObject)
  case summary(JSONObject)
  case externalPurchaseToken(JSONObject)
  case appData(JSONObject)

  /// `data` with signed tokens; `status` only for subscriptions, the reason only for CONSUMPTION_REQUEST.
  package static func data(
    _ app: PayloadApp, transaction: [UInt8], renewalInfo: [UInt8]?, status: Status?,
    reason: ConsumptionRequestReason?
  ) -> NotificationPart {
    .data(
      JSONObject(ordered: [
        "appAppleId": .integer(app.appAppleId),
        "bundleId": .string(app.bundleId),
        "bundleVersion": .string(app.bundleVersion),
        "environment": app.environment.jsonValue,
        "signedTransactionInfo": .token(transaction),
        "signedRenewalInfo": renewalInfo.map { .token($0) },
        "status": status?.jsonValue,
        "consumptionRequestReason": reason?.jsonValue,
      ]))
  }

  /// `data` of TEST: no transaction, no version, and in the sandbox no `appAppleId`.
  package static func test(_ app: PayloadApp) -> NotificationPart {
    .data(
      JSONObject(ordered: [
        "appAppleId": app.environment == .production ? .integer(app.appAppleId) : nil,
        "bundleId": .string(app.bundleId),
        "environment": app.environment.jsonValue,
      ]))
  }

  /// `summary` of RENEWAL_EXTENSION/SUMMARY; without storefronts it applies to all of them.
  package static func summary(
    _ app: PayloadApp, productId: String, requestIdentifier: String, storefronts: [String]?, succeeded: Int64,
    failed: Int64
  ) -> NotificationPart {
    .summary(
      JSONObject(ordered: [
        "environment": app.environment.jsonValue,
        "appAppleId": .integer(app.appAppleId),
        "bundleId": .string(app.bundleId),
        "productId": .string(productId),
        "requestIdentifier": .string(requestIdentifier),
        "storefrontCountryCodes": storefronts?.jsonValue,
        "succeededCount": .integer(succeeded),
        "failedCount": .integer(failed),
      ]))
  }

  /// `externalPurchaseToken`, whose environment is visible only in its identifier.
  package static func token(
    _ app: PayloadApp, identifier: String, created: Timestamp, expires: Timestamp?, type: ExternalPurchaseTokenType?
  ) -> NotificationPart {
    .externalPurchaseToken(
      JSONObject(ordered: [
        "externalPurchaseId": .string(identifier),
        "tokenCreationDate": .date(created),
        "appAppleId": .integer(app.appAppleId),
        "bundleId": .string(app.bundleId),
        "tokenExpirationDate": expires.map { .date($0) },
        "tokenType": type?.jsonValue,
      ]))
  }

  /// `appData` of RESCIND_CONSENT.
  package static func appData(_ app: PayloadApp, appTransaction: [UInt8]) -> NotificationPart {
    .appData(
      JSONObject(ordered: [
        "appAppleId": .integer(app.appAppleId),
        "bundleId": .string(app.bundleId),
        "environment": app.environment.jsonValue,
        "signedAppTransactionInfo": .token(appTransaction),
      ]))
  }
}

/// Builds the payload around a part.
package func notificationPayload(
  kind: SampleKind, notificationUUID: String, part: NotificationPart, signedDate: Timestamp
) -> JSONObject {
  var payload = JSONObject(ordered: [
    "notificationType": kind.type.jsonValue,
    "subtype": kind.subtype?.jsonValue,
    "notificationUUID": .string(notificationUUID),
  ])
  // Apple writes data before version and signedDate, and the three rarer parts after them.
  if case .data(let data) = part { payload["data"] = .object(data) }
  payload["version"] = .string("2.0")
  payload["signedDate"] = .date(signedDate)
  switch part {
  case .data: break
  case .summary(let summary): payload["summary"] = .object(summary)
  case .externalPurchaseToken(let token): payload["externalPurchaseToken"] = .object(token)
  case .appData(let data): payload["appData"] = .object(data)
  }
  return payload
}

/// The body that Apple posts around a token.
package func postBody(_ jws: [UInt8]) -> [UInt8] {
  Array("{\"signedPayload\":\"".utf8) + jws + Array("\"}".utf8)
}

/// The payload of `signedAppTransactionInfo`.
package func appTransactionPayload(
  _ app: PayloadApp, appTransactionId: String, originalPurchaseDate: Timestamp, signedDate: Timestamp
) -> JSONObject {
  JSONObject(ordered: [
    "receiptType": app.environment.jsonValue,
    "appAppleId": .integer(app.appAppleId),
    "bundleId": .string(app.bundleId),
    "applicationVersion": .string(app.bundleVersion),
    "versionExternalIdentifier": .integer(868_112_233),
    "receiptCreationDate": .date(signedDate),
    "originalPurchaseDate": .date(originalPurchaseDate),
    // "In the sandbox testing environment, the value is always 1.0."
    "originalApplicationVersion": .string(app.environment == .sandbox ? "1.0" : "1"),
    "appTransactionId": .string(appTransactionId),
    "originalPlatform": .string("iOS"),
  ])
}
