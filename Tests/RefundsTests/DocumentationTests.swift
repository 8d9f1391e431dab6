// The samples of `docs/refunds.md` are what readers build upon.

import AppStore
import Foundation
import Testing

@testable import Refunds

@Suite struct DocumentationTests {
  private struct Sample {
    var title: String
    var json: String
  }

  /// The first JSON of each section that has one, by the section's title.
  private static func samples() throws -> [Sample] {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appending(path: "docs/refunds.md"), encoding: .utf8)
    var samples: [Sample] = []
    var title = ""
    var json: [String]?
    for line in page.components(separatedBy: "\n") {
      if line.hasPrefix("#") { title = line.replacing("#", with: "").replacing("`", with: "").replacing(" ", with: "") }
      if line == "```json" {
        json = []
      } else if line == "```", let lines = json {
        samples.append(Sample(title: title, json: lines.joined(separator: "\n")))
        json = nil
      } else {
        json?.append(line)
      }
    }
    return samples
  }

  @Test func `every event has a sample, and the row; each is what its schema says`() throws {
    let samples = try Self.samples()
    #expect(Set(samples.map(\.title)) == Set(RefundEvent.allCases.map(\.rawValue)).union(["Arow"]))
    for sample in samples {
      let schema = try SchemaCheck(sample.title == "Arow" ? "appstore.entitlements" : "refunds.\(sample.title)")
      #expect(schema.problems(try JSON(parsing: Array(sample.json.utf8))) == [], "\(sample.title)")
    }
  }

  @Test func `the check of schemas can fail`() throws {
    let schema = try SchemaCheck("appstore.entitlements")
    let row: JSONObject = [
      "transactionId": "1", "quantity": 1, "revoked": false, "signedDate": "2026-01-01T00:00:00.000Z",
      "source": "notification", "notificationId": "n",
    ]
    #expect(schema.problems(.object(row)).isEmpty)
    let wrong: [(String, JSON)] = [
      ("transactionId", 1), ("transactionId", ""), ("quantity", 0), ("revoked", true), ("source", "hearsay"),
      ("signedDate", "2026-01-01"), ("status", "active"),
      ("revocation", ["type": "full", "date": "2026-01-01T00:00:00.000Z"]),
    ]
    for (name, value) in wrong {
      var row = row
      row[name] = value
      #expect(!schema.problems(.object(row)).isEmpty, "\(name)")
    }
    #expect(!schema.problems(.object(JSONObject(row.members.dropLast()))).isEmpty)
  }
}
