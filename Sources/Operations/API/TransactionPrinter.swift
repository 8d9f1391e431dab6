// Prints lists of transactions (histories, refunds, orders) page by page, as table rows or JSON lines.

package import AppStore

/// Prints transactions page by page.
package struct TransactionPrinter: Sendable {
  /// The subject of a list; determines the columns.
  package enum Kind: Sendable, Hashable {
    /// Purchases: date, period and state.
    case purchases
    /// Refunds: date, percentage and reason.
    case refunds
  }

  private let kind: Kind
  private let output: Output
  private let asJSON: Bool
  private let now: Timestamp
  private var table: StreamingTable
  /// The number of transactions printed.
  package private(set) var count = 0

  /// Creates a printer.
  ///
  /// - Parameters:
  ///   - asJSON: Prints the payloads as Apple signed them, one per line, instead of rows.
  ///   - now: The current time, which decides whether a transaction has expired.
  package init(_ kind: Kind, to output: Output, asJSON: Bool, at now: Timestamp) {
    self.kind = kind
    self.output = output
    self.asJSON = asJSON
    self.now = now
    table = StreamingTable(Self.columns(kind), lineWidth: output.width, usesColor: output.usesColor)
  }

  /// Prints transactions.
  /// - Throws: ``OperationError`` of kind `outputClosed` if the reader closed the output.
  package mutating func print(_ transactions: [JWSTransactionDecodedPayload]) throws(OperationError) {
    guard !asJSON else {
      let lines = transactions.map { String(decoding: $0.serialized(), as: UTF8.self) }
      count += lines.count
      return try output.lines(lines)
    }
    let rows = transactions.map(row)
    var lines: [String] = []
    if count == 0, !rows.isEmpty {
      // The first page determines the column widths; this pass only measures.
      for row in rows { _ = table.lines(row) }
      lines += table.header()
    }
    for row in rows { lines += table.lines(row) }
    count += rows.count
    try output.lines(lines)
  }

  private static func columns(_ kind: Kind) -> [TextColumn] {
    let product = TextColumn("PRODUCT", minimumWidth: 24)
    let price = TextColumn("PRICE", minimumWidth: 9, alignment: .right)
    let purchased = TextColumn("PURCHASED", minimumWidth: 20)
    let transaction = TextColumn("TRANSACTION", minimumWidth: 16)
    switch kind {
    case .purchases:
      let reason = TextColumn("REASON", minimumWidth: 8)
      let expires = TextColumn("EXPIRES", minimumWidth: 20)
      let state = TextColumn("STATE", minimumWidth: 8)
      return [purchased, product, price, reason, expires, state, transaction]
    case .refunds:
      let revoked = TextColumn("REVOKED", minimumWidth: 20)
      let part = TextColumn("PART", minimumWidth: 6, alignment: .right)
      let why = TextColumn("WHY", minimumWidth: 21)
      return [revoked, product, price, part, why, purchased, transaction]
    }
  }

  private func row(_ payload: JWSTransactionDecodedPayload) -> [TextCell] {
    let product = TextCell(optional: payload.productId)
    let price = TextCell(optional: payload.price.map { HumanText.price(thousandths: $0, currency: payload.currency) })
    let transaction = TextCell(optional: payload.transactionId, .cyan)
    switch kind {
    case .purchases:
      let purchased = TextCell(payload.purchaseDate)
      let reason = TextCell(optional: payload.transactionReason?.rawValue.lowercased())
      let expires = TextCell(payload.expiresDate)
      let state = TransactionState(payload, at: now).cell
      return [purchased, product, price, reason, expires, state, transaction]
    case .refunds:
      let revoked = TextCell(payload.revocationDate, .red)
      let part = TextCell(optional: payload.revocationPercentage.map { HumanText.percentage(milliunits: $0) })
      let why = TextCell(optional: payload.revocationReason?.words ?? payload.revocationType?.words)
      let purchased = TextCell(payload.purchaseDate, .dim)
      return [revoked, product, price, part, why, purchased, transaction]
    }
  }
}
