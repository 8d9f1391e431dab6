// Sends a notification of a requested type and subtype. A new customer is brought into the necessary state without
// notifications, then the event happens. The result is as consistent as the notifications that the world sends by
// itself.

internal import AppStore
internal import AppStoreSigning

extension WorldState {
  /// Sends exactly one notification, of this kind, about a customer created for it.
  mutating func send(_ kind: SampleKind, in realm: RealmID, at now: Timestamp) throws(WorldError) {
    switch (kind.type, kind.subtype) {
    case (.test, _): requestTest(in: realm, at: now)
    case (.externalPurchaseToken, let subtype): try sendToken(subtype, in: realm, at: now)
    case (.rescindConsent, _): try rescindConsent(addCustomer(to: realm, at: now - .seconds(86_400)), at: now)
    case (.renewalExtension, .summary?):
      summarizeExtension(
        in: realm, productId: try subscriptionProduct(in: realm).productId,
        requestIdentifier: CompactUUID(using: &generator).text, storefronts: nil, succeeded: 0, failed: 0, at: now)
    case (.oneTimeCharge, _):
      try purchase(oneTimeProduct(in: realm).productId, by: addCustomer(to: realm, at: now), at: now)
    case (.refund, _), (.refundDeclined, _), (.refundReversed, _), (.consumptionRequest, _), (.revoke, _):
      try sendRefund(kind.type, in: realm, at: now)
    case (.subscribed, let subtype):
      let product = try subscriptionProduct(in: realm)
      let customer = try addCustomer(to: realm, at: now - .seconds(3_600))
      if subtype == .resubscribe {
        // Prefers another plan of the group, because version 1 sends the most notifications for that case.
        let lapsed =
          realms[realm].app.products.first {
            $0.isSubscription && $0.group == product.group && $0.productId != product.productId
          } ?? product
        try quietly { state throws(WorldError) in try state.lapse(lapsed, customer, now) }
      }
      try purchase(product.productId, by: customer, at: now)
    case (.offerRedeemed, let subtype): try sendOffer(subtype, in: realm, at: now)
    case (.didChangeRenewalPref, let subtype): try sendPlan(subtype, in: realm, at: now)
    default: try sendSubscription(kind, in: realm, at: now)
    }
  }

  private mutating func sendSubscription(
    _ kind: SampleKind, in realm: RealmID, at now: Timestamp
  ) throws(WorldError) {
    let needsGrace = kind == SampleKind(.didFailToRenew, .gracePeriod) || kind.type == .gracePeriodExpired
    let product = try subscriptionProduct(in: realm) { product in
      kind.type == .didFailToRenew || kind.type == .gracePeriodExpired
        ? (product.gracePeriod != nil) == needsGrace : true
    }
    let ends: Duration = kind.type == .didRenew ? .seconds(34) : .seconds(86_400)
    let original = try quietly { state throws(WorldError) in
      let customer = try state.addCustomer(to: realm, at: product.period.start(before: now))
      return try state.purchase(
        product.productId, by: customer, at: product.period.start(before: now + ends))
    }
    try quietly { state throws(WorldError) in try state.prepare(original, for: kind, at: now) }
    switch (kind.type, kind.subtype) {
    case (.didRenew, _): try renew(original, at: now)
    case (.didChangeRenewalStatus, let subtype):
      try setRenewal(original, isOn: subtype == .autoRenewEnabled, at: now)
    case (.didFailToRenew, _): try failToRenew(original, at: now)
    case (.gracePeriodExpired, _): try endGracePeriod(original, at: now)
    case (.expired, let subtype):
      let intent: ExpirationIntent =
        switch subtype {
        case .voluntary?: .customerCancelled
        case .billingRetry?: .billingError
        case .priceIncrease?: .customerDidNotConsentToPriceIncrease
        case .productNotForSale?: .productNotAvailable
        default: .other
        }
      try expire(original, intent, at: now)
    case (.priceIncrease, .accepted?): try acceptPriceIncrease(original, at: now)
    case (.priceIncrease, _):
      try announcePriceIncrease(original, to: product.price + 1_000, needsConsent: true, at: now)
    case (.renewalExtended, _): try extendRenewal(original, byDays: 7, at: now)
    case (.renewalExtension, _): try failExtension(original, at: now)
    case (.migration, _): try migrateToAdvancedCommerce(original, at: now)
    case (.metadataUpdate, _): try updateMetadata(original, at: now)
    case (.priceChange, _): try changePrice(original, to: product.price + 1_000, at: now)
    default: throw .impossible("a notification \(kind) cannot be sent on request")
    }
  }

  /// Brings a subscription into the state that the kind requires.
  private mutating func prepare(_ original: Int64, for kind: SampleKind, at now: Timestamp) throws(WorldError) {
    let before = now - .seconds(3_600)
    switch (kind.type, kind.subtype) {
    case (.didRenew, .billingRecovery?), (.gracePeriodExpired, _): try failToRenew(original, at: before)
    case (.expired, .billingRetry?): try failToRenew(original, at: before)
    case (.didChangeRenewalStatus, .autoRenewEnabled?), (.expired, .voluntary?):
      try setRenewal(original, isOn: false, at: before)
    case (.priceIncrease, .accepted?), (.expired, .priceIncrease?):
      try announcePriceIncrease(original, to: 12_990, needsConsent: true, at: before)
    case (.metadataUpdate, _), (.priceChange, _): try migrateToAdvancedCommerce(original, at: before)
    default: break
    }
  }

  private mutating func sendRefund(
    _ type: NotificationTypeV2, in realm: RealmID, at now: Timestamp
  ) throws(WorldError) {
    let product = try subscriptionProduct(in: realm)
    let id = try quietly { state throws(WorldError) in
      let customer = try state.addCustomer(to: realm, at: now - .seconds(86_400))
      let id = try state.purchase(
        product.productId, by: customer, ownership: type == .revoke ? .familyShared : .purchased,
        at: now - .seconds(7_200))
      // Apple turns auto-renewal off when a refund is requested. That is a separate notification.
      if type == .refund || type == .consumptionRequest {
        try state.setRenewal(id, isOn: false, at: now - .seconds(3_600))
      }
      if type == .refundReversed { try state.refund(id, at: now - .seconds(3_600)) }
      return id
    }
    switch type {
    case .refund: try refund(id, at: now)
    case .refundDeclined: try declineRefund(id, at: now)
    case .refundReversed: try reverseRefund(id, at: now)
    case .revoke: try revoke(id, at: now)
    default: try requestRefund(id, at: now)
    }
  }

  private mutating func sendToken(_ subtype: Subtype?, in realm: RealmID, at now: Timestamp) throws(WorldError) {
    guard subtype != .created else {
      createExternalPurchaseToken(in: realm, at: now)
      return
    }
    let id = try quietly { state throws(WorldError) in
      state.createExternalPurchaseToken(in: realm, at: now - .seconds(25 * 86_400))
    }
    try remindOfExternalPurchaseToken(id, in: realm, isUnreported: subtype == .unreported, at: now)
  }

  private mutating func sendPlan(_ subtype: Subtype?, in realm: RealmID, at now: Timestamp) throws(WorldError) {
    let (high, low) = try levels(in: realm)
    let original = try quietly { state throws(WorldError) in
      let customer = try state.addCustomer(to: realm, at: now - .seconds(86_400))
      let first = subtype == .upgrade ? low : high
      let original = try state.purchase(first.productId, by: customer, at: now - .seconds(86_400))
      if subtype == nil { try state.changePlan(original, to: low.productId, at: now - .seconds(3_600)) }
      return original
    }
    try changePlan(original, to: subtype == .downgrade ? low.productId : high.productId, at: now)
  }

  private mutating func sendOffer(_ subtype: Subtype?, in realm: RealmID, at now: Timestamp) throws(WorldError) {
    let isNew = subtype == .initialBuy || subtype == .resubscribe
    let change = subtype == .upgrade || subtype == .downgrade ? try levels(in: realm) : nil
    let product =
      if let change { subtype == .upgrade ? change.high : change.low } else {
        try subscriptionProduct(in: realm) { !$0.offers.isEmpty }
      }
    guard let offer = product.offers.first else { throw .impossible("\(product.productId) has no offer; add one") }
    let customer = try addCustomer(to: realm, at: now - .seconds(86_400))
    if isNew {
      if subtype == .resubscribe { try quietly { state throws(WorldError) in try state.lapse(product, customer, now) } }
      try redeemOfferOldStyle(offer.identifier, of: product.productId, by: customer, at: now)
      return
    }
    let first = change.map { subtype == .upgrade ? $0.low : $0.high } ?? product
    let original = try quietly { state throws(WorldError) in
      try state.purchase(first.productId, by: customer, at: now - .seconds(86_400))
    }
    try redeemOffer(offer.identifier, of: product.productId, for: original, at: now)
  }

  /// A subscription that has expired.
  private mutating func lapse(_ product: Product, _ customer: CustomerID, _ now: Timestamp) throws(WorldError) {
    let original = try purchase(product.productId, by: customer, at: now - .seconds(7_200))
    try expire(original, .customerCancelled, at: now - .seconds(3_600))
  }

  private func subscriptionProduct(
    in realm: RealmID, _ isRight: (Product) -> Bool = { _ in true }
  ) throws(WorldError) -> Product {
    let products = realms[realm].app.products
    guard let product = products.first(where: { $0.isSubscription && isRight($0) }) else {
      throw .impossible("\(realms[realm].app.bundleId) has no suitable subscription; add one to the app's products")
    }
    return product
  }

  private func oneTimeProduct(in realm: RealmID) throws(WorldError) -> Product {
    guard let product = realms[realm].app.products.first(where: { !$0.isSubscription }) else {
      throw .impossible("\(realms[realm].app.bundleId) has no one-time product; add one to the app's products")
    }
    return product
  }

  /// Two products of one group, the lower one with an offer if there is one.
  private func levels(in realm: RealmID) throws(WorldError) -> (high: Product, low: Product) {
    let products = realms[realm].app.products.filter { $0.isSubscription }
    for high in products {
      let lower = products.filter { $0.group == high.group && $0.level > high.level }
      if let low = lower.first(where: { !$0.offers.isEmpty }) ?? lower.first { return (high, low) }
    }
    throw .impossible("\(realms[realm].app.bundleId) has no two plans of different levels in one group")
  }
}
