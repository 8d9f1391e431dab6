// A commitment of twelve months that is billed each month (App Store Server API 1.21).

internal import AppStore

/// The commitment that a period belongs to, from its signed transaction.
struct Commitment: Sendable, Hashable {
  var plan: BillingPlanType?
  /// The number of the billing period, counted from 1.
  var number: Int64?
  /// The number of billing periods in the commitment.
  var total: Int64?
  var expiresDate: Timestamp?
  /// The price of the whole commitment, in thousandths of the currency.
  var price: Int64?

  /// Reads a transaction; nil if it belongs to no commitment.
  init?(_ transaction: JWSTransactionDecodedPayload) {
    let info = transaction.commitmentInfo
    guard info != nil || transaction.billingPlanType != nil else { return nil }
    plan = transaction.billingPlanType
    number = info?.billingPeriodNumber
    total = info?.totalBillingPeriods
    expiresDate = info?.commitmentExpiresDate
    price = info?.commitmentPrice
  }
}

/// The next commitment, from the signed renewal info.
struct NextCommitment: Sendable, Hashable {
  /// Whether the commitment renews when it ends. Billing within the commitment continues in either case.
  var autoRenewStatus: AutoRenewStatus?
  var productId: String?
  var plan: RenewalBillingPlanType?
  var renewalDate: Timestamp?
  /// The price of the next commitment, in thousandths of the currency.
  var price: Int64?

  /// Reads a renewal info; nil if it names no commitment.
  init?(_ renewal: JWSRenewalInfoDecodedPayload) {
    let info = renewal.commitmentInfo
    guard info != nil || renewal.renewalBillingPlanType != nil else { return nil }
    autoRenewStatus = info?.commitmentAutoRenewStatus
    productId = info?.commitmentAutoRenewProductId
    plan = info?.commitmentRenewalBillingPlanType ?? renewal.renewalBillingPlanType
    renewalDate = info?.commitmentRenewalDate
    price = info?.commitmentRenewalPrice
  }
}

extension Commitment {
  /// The compact form.
  var packed: [UInt8] {
    var writer = PackedWriter()
    writer.put(1, plan.map { .text($0.rawValue) })
    writer.put(2, number.map { .number($0) })
    writer.put(3, total.map { .number($0) })
    writer.put(4, expiresDate.map { PackedValue($0) })
    writer.put(5, price.map { .number($0) })
    return writer.bytes
  }

  init(_ reader: PackedReader) {
    plan = reader.text(1).map { BillingPlanType(rawValue: $0) }
    number = reader.number(2)
    total = reader.number(3)
    expiresDate = reader.time(4)
    price = reader.number(5)
  }
}

extension NextCommitment {
  /// The compact form.
  var packed: [UInt8] {
    var writer = PackedWriter()
    writer.put(1, autoRenewStatus.map { .number(Int64($0.rawValue)) })
    writer.put(2, productId.map { .text($0) })
    writer.put(3, plan.map { .text($0.rawValue) })
    writer.put(4, renewalDate.map { PackedValue($0) })
    writer.put(5, price.map { .number($0) })
    return writer.bytes
  }

  init(_ reader: PackedReader) {
    autoRenewStatus = reader.number(1).flatMap { Int(exactly: $0) }.map { AutoRenewStatus(rawValue: $0) }
    productId = reader.text(2)
    plan = reader.text(3).map { RenewalBillingPlanType(rawValue: $0) }
    renewalDate = reader.time(4)
    price = reader.number(5)
  }
}
