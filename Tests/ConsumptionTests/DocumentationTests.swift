// Checks the samples of `docs/consumption.md`, because teams build their endpoint from them.

import AppStore
import TestSupport
import Testing

@testable import Consumption

@Suite struct DocumentationTests {
  private static let events = [
    ConsumptionSent.eventName, ConsumptionWithheld.eventName, ConsumptionRefused.eventName,
    ConsumptionExpired.eventName, ConsumptionAtRisk.eventName, ConsumptionOutcome.eventName,
  ]

  @Test func `question, answers and events match their schemas, and each event has a sample`() throws {
    let samples = try DocumentedSample.all(in: "docs/consumption.md")
    let http = samples.filter { $0.title == "http" }
    #expect(http.count == 3)
    for (number, sample) in http.enumerated() {
      let schema = try SchemaCheck(number == 0 ? "consumption-question" : "consumption-answer")
      #expect(schema.problems(try JSON(parsing: Array(sample.json.utf8))) == [], "\(sample.json)")
    }
    let others = samples.filter { $0.title != "http" }
    #expect(others.map(\.title) == Self.events)
    for sample in others {
      #expect(
        try SchemaCheck(sample.title).problems(try JSON(parsing: Array(sample.json.utf8))) == [], "\(sample.title)")
    }
  }

  @Test func `the answers of the page can be sent`() throws {
    for sample in try DocumentedSample.all(in: "docs/consumption.md").filter({ $0.title == "http" }).dropFirst() {
      let answer = try ConsumptionAnswer(parsing: Array(sample.json.utf8))
      for version in [ConsumptionQuestion.Version.v1, .v2] {
        let question = ConsumptionQuestion(
          notificationId: "n", version: version, bundleId: "b", environment: .production, transactionId: "1",
          productType: .consumable,
          deadline: ConsumptionDeadline(signedDate: nil, receivedAt: Timestamp(millisecondsSince1970: 0)))
        #expect(throws: Never.self) { try answer.request(for: question).get() }
      }
    }
  }

  @Test func `the schema of an answer refuses what is never sent`() throws {
    let schema = try SchemaCheck("consumption-answer")
    for text in [
      "{}", #"{"customerConsented":true}"#, #"{"customerConsented":true,"deliveryStatus":"DELIVERED"}"#,
      #"{"customerConsented":true,"deliveryStatus":"LOST","sampleContentProvided":true}"#,
      #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":true,"consumptionPercentage":100001}"#,
    ] {
      #expect(!schema.problems(try JSON(parsing: Array(text.utf8))).isEmpty, "\(text)")
    }
    #expect(schema.problems(try JSON(parsing: Array(#"{"customerConsented":false}"#.utf8))).isEmpty)
  }
}
