// What Apple demands of a request to extend renewal dates, and of one to name an account.

extension ExtendRenewalDateRequest {
  /// The documented constraints that this request does not keep; empty when it may be sent.
  ///
  /// The reason code is demanded although Apple marks nothing as required: without it the App Store answers 500.
  public func violations() -> [RequestViolation] {
    var violations = violations(
      required: ["extendByDays", "extendReasonCode", "requestIdentifier"], topic: "ExtendRenewalDateRequest")
    violations += ExtendReasonCode.violations(days: extendByDays, reason: extendReasonCode)
    // Apple counts characters without saying which; UTF-16 units are what its servers count, and never fewer than ours.
    if let requestIdentifier, !(1...128).contains(requestIdentifier.utf16.count) {
      violations.append(
        RequestViolation(
          .requestIdentifierLength, "requestIdentifier", found: "found \(requestIdentifier.utf16.count) characters"))
    }
    return violations
  }
}

extension MassExtendRenewalDateRequest {
  /// The documented constraints that this request does not keep; empty when it may be sent.
  public func violations() -> [RequestViolation] {
    var violations = violations(
      required: ["extendByDays", "extendReasonCode", "requestIdentifier", "productId"],
      topic: "MassExtendRenewalDateRequest")
    violations += ExtendReasonCode.violations(days: extendByDays, reason: extendReasonCode)
    if let requestIdentifier, !requestIdentifier.isUUID {
      violations.append(RequestViolation(.uuid, "requestIdentifier", found: shape(of: requestIdentifier)))
    }
    if let productId, productId.isEmpty {
      violations.append(RequestViolation(.notEmpty, "productId", found: "an empty string found"))
    }
    if let storefrontCountryCodes {
      if storefrontCountryCodes.isEmpty, json["storefrontCountryCodes"] == .array([]) {
        violations.append(
          RequestViolation(.storefrontsNotEmpty, "storefrontCountryCodes", found: "an empty list found"))
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
  /// The documented constraints that this request does not keep; empty when it may be sent.
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
