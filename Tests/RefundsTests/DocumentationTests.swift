// Checks the samples of `docs/refunds.md`, because readers build on them.

import AppStore
import TestSupport
import Testing

@testable import Refunds

@Suite struct DocumentationTests {
  @Test func `every event has a sample, the table has one, and each matches its schema`() throws {
    let samples = try DocumentedSample.all(in: "docs/refunds.md")
    #expect(Set(samples.map(\.title)) == Set(RefundEvent.allCases.map(\.rawValue)).union(["Arow"]))
    for sample in samples {
      let schema = try SchemaCheck(sample.title == "Arow" ? "appstore.entitlements" : "refunds.\(sample.title)")
      #expect(schema.problems(try JSON(parsing: Array(sample.json.utf8))) == [], "\(sample.title)")
    }
  }

  @Test func `the schema check detects violations`() throws {
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
