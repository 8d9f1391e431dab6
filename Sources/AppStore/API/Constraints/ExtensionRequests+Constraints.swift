// Apple's constraints on requests that extend renewal dates or set an app account token.

extension ExtendRenewalDateRequest {
  /// Returns the documented constraints that this request violates; empty if it can be sent.
  ///
  /// The reason code is required, although Apple does not mark any field as required: without it, the App Store
  /// responds with 500.
  public func violations() -> [RequestViolation] {
    var violations = violations(
      required: ["extendByDays", "extendReasonCode", "requestIdentifier"], topic: "ExtendRenewalDateRequest")
    violations += ExtendReasonCode.violations(days: extendByDays, reason: extendReasonCode)
    // Apple limits characters without defining them. Its servers count UTF-16 units, which are never fewer than Swift
    // characters.
    if let requestIdentifier, !(1...128).contains(requestIdentifier.utf16.count) {
      violations.append(
        RequestViolation(
          .requestIdentifierLength, "requestIdentifier", found: "found \(requestIdentifier.utf16.count) characters"))
    }
    return violations
  }
}

extension MassExtendRenewalDateRequest {
  /// Returns the documented constraints that this request violates; empty if it can be sent.
  public func violations() -> [RequestViolation] {
    var violations = violations(
      required: ["extendByDays", "extendReasonCode", "requestIdentifier", "productId"],
      topic: "MassExtendRenewalDateRequest")
    violations += ExtendReasonCode.violations(days: extendByDays, reason: extendReasonCode)
    if let requestIdentifier, !requestIdentifier.isUUID {
      violations.append(RequestViolation(.uuid, "requestIdentifier", found: shape(of: requestIdentifier)))
    }
    if let productId, productId.isEmpty {
      violations.append(RequestViolation(.notEmpty, "productId", found: "found an empty string"))
    }
    if let storefrontCountryCodes {
      if storefrontCountryCodes.isEmpty, json["storefrontCountryCodes"] == .array([]) {
        violations.append(
          RequestViolation(.storefrontsNotEmpty, "storefrontCountryCodes", found: "found an empty list"))
      }
      for code in storefrontCountryCodes where !code.isAlpha3 {
        violations.append(
          RequestViolation(
            .storefrontAlpha3, "storefrontCountryCodes", found: "found \(shown(code))", topic: "storefrontCountryCode"))
      }
    }
    return violations
  }
}

extension UpdateAppAccountTokenRequest {
  /// Returns the documented constraints that this request violates; empty if it can be sent.
  public func violations() -> [RequestViolation] {
    var violations = violations(required: ["appAccountToken"], topic: "UpdateAppAccountTokenRequest")
    if let appAccountToken, !appAccountToken.isUUID {
      violations.append(RequestViolation(.uuid, "appAccountToken", found: shape(of: appAccountToken)))
    }
    return violations
  }
}

extension String {
  fileprivate var isAlpha3: Bool {
    utf8.count == 3 && utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
  }
}
