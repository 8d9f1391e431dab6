// The quarantine for people and scripts. Pure.

internal import AppStore
internal import MillraceWorker

/// Formats an inventory.
package enum QuarantineTable {
  private static let columns = [
    TextColumn("LAST SEEN"), TextColumn("TIMES", alignment: .right), TextColumn("REASON"), TextColumn("TYPE"),
    TextColumn("APP"), TextColumn("ENVIRONMENT"), TextColumn("SIZE", alignment: .right), TextColumn("ID"),
    TextColumn("CLAIMS"),
  ]

  /// The inventory as a table, followed by a sentence. A terminal that is too narrow for one line per body does not show
  /// the claimed ids.
  package static func lines(_ inventory: QuarantineInventory, lineWidth: Int?, usesColor: Bool) -> [String] {
    let entries = inventory.entries
    let rows = entries.map { entry -> [TextCell] in
      [
        TextCell(entry.lastSeen.map { RecordView.seconds($0) } ?? "", .dim),
        TextCell("\(entry.count)"),
        TextCell(entry.reason?.rawValue ?? "unknown", .yellow),
        TextCell((entry.type ?? "") + (entry.version == .v1 ? " (V1)" : "")),
        TextCell(entry.bundleId ?? ""),
        TextCell(entry.environment ?? ""),
        TextCell(HumanText.size(entry.size)),
        TextCell(entry.shownID, .cyan),
        TextCell(entry.claims.originalTransactionID ?? entry.claims.notificationID ?? ""),
      ]
    }
    var table = TextTable.lines(columns, rows: rows, lineWidth: lineWidth, usesColor: usesColor)
    if table.count > rows.count + 1 {
      table = TextTable.lines(columns.dropLast(), rows: rows, lineWidth: lineWidth, usesColor: usesColor)
    }
    return table + (table.isEmpty ? [] : [""]) + [summary(inventory)]
  }

  /// The inventory as JSON lines, one object per body.
  package static func jsonLines(_ inventory: QuarantineInventory) -> [String] {
    inventory.entries.map { String(decoding: $0.json.serialized(), as: UTF8.self) }
  }

  /// The inventory as a sentence.
  package static func summary(_ inventory: QuarantineInventory) -> String {
    let count = inventory.entries.count
    let bodies = count == 0 ? "The quarantine is empty." : "\(HumanText.count(count, "body", plural: "bodies"))."
    guard inventory.foreignCount > 0 else { return bodies }
    return bodies + " \(HumanText.count(inventory.foreignCount, "record")) that the ingress did not write."
  }
}
