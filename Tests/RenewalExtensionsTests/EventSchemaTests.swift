import AppStore
import Foundation
import MillraceWorker
import TestSupport
import Testing

@testable import RenewalExtensions

@Suite struct EventSchemaTests {
  private static func encoded() throws -> [EncodedEvent] {
    let answers: [ExtensionAnswer] =
      [
        .applied(effectiveDate: Campaign.origin), .applied(effectiveDate: nil), .unclear("why"),
        .refused(.init(.unsuccessful, code: nil, message: nil)),
      ] + ExtensionAnswer.Reason.allCases.map { .refused(.init($0, code: 4_030_004, message: "no")) }
    let outcomes = try answers.map { try $0.event(.sample(), .sample()) }
    return outcomes.flatMap { $0.results?.events ?? [] } + [
      try EncodedEvent(
        ExtensionWithheld(about: EventFacts(.sample(), .sample()), details: .init(by: "ann", why: ""))),
      try EncodedEvent(
        CampaignCompleted(
          about: EventFacts(.sample()),
          details: .init(completedAt: Campaign.origin.rfc3339, succeeded: 1, failed: 0))),
      try EncodedEvent(
        CampaignDiffers(
          about: EventFacts(.sample()),
          details: .init(
            apple: .init(succeeded: 1, failed: 0),
            seen: .init(extended: 0, shared: 0, ambiguous: 0, failures: 0, waiting: 0)))),
    ]
  }

  @Test func `every event matches its schema`() throws {
    for event in try Self.encoded() {
      let problems = try SchemaCheck("renewal-extensions.\(event.name)").problems(try JSON(parsing: event.data))
      #expect(problems.isEmpty, "\(event.name): \(problems)")
    }
    #expect(Set(try Self.encoded().map(\.name)).count == 6)
  }

  @Test func `the schema detects changes: it declares every member and requires the mandatory ones`() throws {
    for event in try Self.encoded() {
      let schema = try SchemaCheck("renewal-extensions.\(event.name)")
      guard case .object(let whole) = try JSON(parsing: event.data) else { continue }
      var more = whole
      more["later"] = 1
      #expect(!schema.problems(.object(more)).isEmpty, "\(event.name)")
      for member in whole.members where !["effectiveDate", "code", "message"].contains(member.key) {
        var less = whole
        less[member.key] = nil
        #expect(!schema.problems(.object(less)).isEmpty, "\(event.name) without \(member.key)")
        var other = whole
        other[member.key] = .array([])
        #expect(!schema.problems(.object(other)).isEmpty, "\(event.name) with a malformed \(member.key)")
      }
    }
  }
}
