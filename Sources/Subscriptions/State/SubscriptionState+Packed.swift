// The compact form of a subscription's state. Fields may only be added, because a later version has to read what this
// one wrote.

internal import AppStore

extension SubscriptionState {
  private static let format: Int64 = 1

  /// The compact form.
  var packed: [UInt8] {
    var writer = PackedWriter()
    writer.put(1, .number(Self.format))
    var first: [Int: PackedValue] = [:]
    for (index, period) in periods.enumerated() {
      var nested = PackedWriter()
      let fields = period.packedFields
      for (field, value) in fields.sorted(by: { $0.key < $1.key }) where first[field] != value {
        nested.put(field, value)
      }
      // The second period repeats most fields of the first, which are left out. A field that it lacks is marked.
      for field in first.keys.sorted() where fields[field] == nil { nested.put(field, .fields([])) }
      if index == 0 { first = fields }
      writer.put(2 + index, .fields(nested.bytes))
    }
    // The next period usually has the product and the currency of the latest and begins when it ends, and the statement is
    // about that period.
    if let renewal { writer.put(10, .fields(renewal.packed(after: periods.first))) }
    if let statement { writer.put(11, .fields(statement.packed(about: periods.first))) }
    writer.put(12, bundleId.map { .text($0) })
    writer.put(13, environment.map { .text($0.rawValue) })
    return writer.bytes
  }

  /// Reads the compact form.
  /// - Throws: ``PackedError`` if the bytes are damaged, or a later version wrote a form that this one does not know.
  init(packed bytes: [UInt8]) throws(PackedError) {
    let reader = try PackedReader(bytes)
    guard reader.number(1) == Self.format else { throw PackedError(offset: 0) }
    var periods: [Period] = []
    var first: PackedReader?
    for index in 0..<Self.mostPeriods {
      guard var nested = try reader.nested(2 + index) else { break }
      if let first { nested.complete(from: first) } else { first = nested }
      periods.append(try Period(nested))
    }
    var renewal: RenewalSettings?
    if let nested = try reader.nested(10) { renewal = try RenewalSettings(nested, after: periods.first) }
    var statement: Statement?
    if let nested = try reader.nested(11) { statement = try Statement(nested, about: periods.first) }
    self.init(
      periods: periods, renewal: renewal, statement: statement, bundleId: reader.text(12),
      environment: reader.text(13).map { AppStoreEnvironment(rawValue: $0) })
  }
}

extension Period {
  var packedFields: [Int: PackedValue] {
    var fields: [Int: PackedValue] = [
      1: .text(transactionId), 3: PackedValue(purchaseDate), 16: PackedValue(signedDate),
    ]
    fields[2] = productId.map { .text($0) }
    fields[4] = expiresDate.map { PackedValue($0) }
    fields[5] = originalPurchaseDate.map { PackedValue($0) }
    fields[6] = revocationDate.map { PackedValue($0) }
    fields[7] = revocationReason.map { .number(Int64($0.rawValue)) }
    if isUpgraded || isRenewal { fields[8] = .number((isUpgraded ? 1 : 0) + (isRenewal ? 2 : 0)) }
    fields[9] = offer.map { .fields($0.packed) }
    fields[10] = price.map { .number($0) }
    fields[11] = currency.map { .text($0) }
    fields[12] = subscriptionGroup.map { .text($0) }
    fields[13] = ownership.map { .text($0.rawValue) }
    fields[14] = appAccountToken.map { .text($0) }
    fields[15] = appTransactionId.map { .text($0) }
    fields[19] = commitment.map { .fields($0.packed) }
    fields[17] = lastRevoked.map { PackedValue($0) }
    fields[18] = lastReversed.map { PackedValue($0) }
    return fields
  }

  init(_ reader: PackedReader) throws(PackedError) {
    guard let id = reader.text(1), let purchaseDate = reader.time(3), let signedDate = reader.time(16) else {
      throw PackedError(offset: 0)
    }
    transactionId = id
    self.purchaseDate = purchaseDate
    self.signedDate = signedDate
    productId = reader.text(2)
    expiresDate = reader.time(4)
    originalPurchaseDate = reader.time(5)
    revocationDate = reader.time(6)
    revocationReason = reader.number(7).flatMap { Int(exactly: $0) }.map { RevocationReason(rawValue: $0) }
    isUpgraded = (reader.number(8) ?? 0) & 1 != 0
    isRenewal = (reader.number(8) ?? 0) & 2 != 0
    offer = try Offer.read(9, of: reader)
    price = reader.number(10)
    currency = reader.text(11)
    subscriptionGroup = reader.text(12)
    ownership = reader.text(13).map { InAppOwnershipType(rawValue: $0) }
    appAccountToken = reader.text(14)
    appTransactionId = reader.text(15)
    commitment = try reader.nested(19).map { Commitment($0) }
    lastRevoked = reader.time(17)
    lastReversed = reader.time(18)
  }
}

extension RenewalSettings {
  /// The compact form. What repeats the period is left out.
  func packed(after period: Period? = nil) -> [UInt8] {
    var writer = PackedWriter()
    writer.put(1, PackedValue(signedDate))
    writer.put(2, autoRenewStatus.map { .number(Int64($0.rawValue)) })
    writer.put(3, productId == period?.productId ? nil : .text(productId ?? ""))
    writer.put(4, gracePeriodExpiresDate.map { PackedValue($0) })
    writer.put(5, isInBillingRetry.map { .number($0 ? 1 : 0) })
    writer.put(6, expirationIntent.map { .number(Int64($0.rawValue)) })
    writer.put(7, priceIncrease.map { .number(Int64($0.rawValue)) })
    writer.put(8, offer.map { .fields($0.packed) })
    writer.put(9, price.map { .number($0) })
    writer.put(10, currency == period?.currency ? nil : .text(currency ?? ""))
    writer.put(11, currentProductId == period?.productId ? nil : .text(currentProductId ?? ""))
    writer.put(13, nextCommitment.map { .fields($0.packed) })
    if renewalDate != period?.expiresDate { writer.put(12, renewalDate.map { PackedValue($0) } ?? .text("")) }
    return writer.bytes
  }

  fileprivate init(_ reader: PackedReader, after period: Period?) throws(PackedError) {
    guard let signedDate = reader.time(1) else { throw PackedError(offset: 0) }
    func code(_ field: Int) -> Int? { reader.number(field).flatMap { Int(exactly: $0) } }
    self.signedDate = signedDate
    autoRenewStatus = code(2).map { AutoRenewStatus(rawValue: $0) }
    productId = reader.text(3).map { $0.isEmpty ? nil : $0 } ?? period?.productId
    gracePeriodExpiresDate = reader.time(4)
    isInBillingRetry = reader.number(5).map { $0 != 0 }
    expirationIntent = code(6).map { ExpirationIntent(rawValue: $0) }
    priceIncrease = code(7).map { PriceIncreaseStatus(rawValue: $0) }
    offer = try Offer.read(8, of: reader)
    price = reader.number(9)
    currency = reader.text(10).map { $0.isEmpty ? nil : $0 } ?? period?.currency
    currentProductId = reader.text(11).map { $0.isEmpty ? nil : $0 } ?? period?.productId
    nextCommitment = try reader.nested(13).map { NextCommitment($0) }
    renewalDate = reader.fields[12] == nil ? period?.expiresDate : reader.time(12)
  }
}

extension Offer {
  fileprivate var packed: [UInt8] {
    var writer = PackedWriter()
    writer.put(1, .number(Int64(type.rawValue)))
    writer.put(2, identifier.map { .text($0) })
    writer.put(3, discountType.map { .text($0.rawValue) })
    return writer.bytes
  }

  fileprivate static func read(_ field: Int, of reader: PackedReader) throws(PackedError) -> Offer? {
    guard let nested = try reader.nested(field), let code = nested.number(1).flatMap({ Int(exactly: $0) }) else {
      return nil
    }
    return Offer(
      type: OfferType(rawValue: code), identifier: nested.text(2),
      discountType: nested.text(3).map { OfferDiscountType(rawValue: $0) })
  }
}

extension Statement {
  /// The compact form. What repeats the period is left out.
  func packed(about period: Period? = nil) -> [UInt8] {
    var writer = PackedWriter()
    writer.put(1, PackedValue(signedDate))
    writer.put(2, status.map { .number(Int64($0.rawValue)) })
    if purchaseDate != period?.purchaseDate { writer.put(3, purchaseDate.map { PackedValue($0) } ?? .text("")) }
    writer.put(4, .text(cause.id))
    if transactionSignedDate != period?.signedDate {
      writer.put(8, transactionSignedDate.map { PackedValue($0) } ?? .text(""))
    }
    switch cause.kind {
    case .notification(let type, let subtype):
      writer.put(6, type.map { .text($0.rawValue) })
      writer.put(7, subtype.map { .text($0.rawValue) })
    case .answer: writer.put(5, .number(1))
    case .imported: writer.put(5, .number(2))
    }
    return writer.bytes
  }

  fileprivate init(_ reader: PackedReader, about period: Period?) throws(PackedError) {
    guard let signedDate = reader.time(1), let id = reader.text(4) else { throw PackedError(offset: 0) }
    self.signedDate = signedDate
    status = reader.number(2).flatMap { Int(exactly: $0) }.map { Status(rawValue: $0) }
    purchaseDate = reader.fields[3] == nil ? period?.purchaseDate : reader.time(3)
    transactionSignedDate = reader.fields[8] == nil ? period?.signedDate : reader.time(8)
    let kind: Cause.Kind =
      switch reader.number(5) {
      case 1: .answer
      case 2: .imported
      default:
        .notification(
          reader.text(6).map { NotificationTypeV2(rawValue: $0) }, reader.text(7).map { Subtype(rawValue: $0) })
      }
    cause = Cause(kind: kind, id: id)
  }
}
