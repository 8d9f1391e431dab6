import AppStore
import Foundation
import TestSupport
import Testing

@testable import HTTPWorkers
@testable import MillraceWorker

@Suite struct OutcomeDecoderTests {
  private static let key = "2000000000000001"

  private static func decode(_ text: String) throws(OutcomeFault) -> HandlerOutcome {
    try OutcomeDecoder.decode(Array(text.utf8), key: key)
  }

  @Test func `an outcome has events, a state, timers and calls`() throws {
    let outcome = try Self.decode(
      """
      {"events": [{"name": "winback.offered", "data": {"b": 1, "a": 2}, "key": "k"}, {"name": "x", "data": {}}],
       "state": {"n": 1.50},
       "timers": [{"name": "mail", "at": "2026-01-16T03:22:02+01:00", "payload": [1]}, {"name": "offer", "at": null}],
       "calls": [{"name": "extend/1", "operation": "extendSubscriptionRenewalDate", "arguments":
         {"originalTransactionId": "1", "extendByDays": 7, "extendReasonCode": 1, "requestIdentifier": "r"}}]}
      """)
    guard case .results(let results) = outcome else { return #expect(Bool(false)) }
    #expect(
      results.events == [
        EncodedEvent(name: "winback.offered", key: "k", data: Array(#"{"b":1,"a":2}"#.utf8)),
        EncodedEvent(name: "x", data: Array("{}".utf8)),
      ])
    #expect(results.state == .set(["n": .number("1.50")]))
    #expect(results.timers.map(\.name) == ["mail", "offer"])
    #expect(results.timers.map(\.at) == [Timestamp(rfc3339: "2026-01-16T02:22:02Z"), nil])
    #expect(results.timers.map(\.payload) == [[1], nil])
    #expect(results.calls.map(\.operation) == [.extendSubscriptionRenewalDate])
    #expect(try Self.decode(#"{"state": null}"#) == .results(.init(state: .removed)))
    #expect(try Self.decode("{}") == .results(.init()))
    #expect(
      try Self.decode(#"{"retry": {"after": 90, "reason": "crm-down", "detail": "x"}}"#)
        == .retry(after: .seconds(90), reason: "crm-down", detail: "x"))
    #expect(
      try Self.decode(#"{"retry": {"reason": "crm-down"}}"#)
        == .retry(after: nil, reason: "crm-down", detail: "crm-down"))
    #expect(
      try Self.decode(#"{"deadLetter": {"reason": "gone"}}"#) == .deadLetter(reason: "gone", detail: "gone"))
  }

  @Test(
    arguments: [
      ("[]", "$: an object is expected, not array"), ("", "$: the body is empty"),
      (#"{"event": []}"#, "$.event: this member is not allowed here"),
      (#"{"a\nb": []}"#, "$.…: this member is not allowed here"),
      (#"{"events": {}}"#, "$.events: an array is expected, not object"),
      (#"{"events": [{"name": "a", "data": {}}, {"name": "A", "data": {}}]}"#, "$.events[1].name: not lower case with"),
      (#"{"events": [{"name": "customer.erased", "data": {}}]}"#, "$.events[0].name: customer.erased is reserved"),
      (#"{"events": [{"name": "a", "data": []}]}"#, "$.events[0].data: an object is expected, not array"),
      (#"{"events": [{"name": "a"}]}"#, "$.events[0]: `data` is missing"),
      (#"{"events": [{"name": "a", "data": {}, "id": 1}]}"#, "$.events[0].id: this member is not allowed here"),
      (#"{"timers": [{"name": "a"}]}"#, "$.timers[0]: `at` is missing"),
      (#"{"timers": [{"name": "a", "at": "tomorrow"}]}"#, "$.timers[0].at: not a time such as"),
      (#"{"timers": [{"name": "a", "at": 17}]}"#, "$.timers[0].at: a string is expected, not integer"),
      (#"{"timers": [{"name": "-", "at": null}]}"#, "$.timers[0].name: not letters, digits"),
      (#"{"retry": {"after": 1.5, "reason": "a"}}"#, "$.retry.after: a whole number is expected, not another number"),
      (#"{"retry": {"after": 604801, "reason": "a"}}"#, "$.retry.after: not from 0 to 604800"),
      (#"{"retry": {"reason": "Crm down"}}"#, "$.retry.reason: not lower-case words"),
      (#"{"retry": {"reason": "a"}, "state": 1}"#, "$.state: this member is not allowed here"),
      (#"{"retry": {"reason": "a"}, "deadLetter": {"reason": "a"}}"#, "$.deadLetter: this member is not allowed here"),
      (#"{"deadLetter": {}}"#, "$.deadLetter: `reason` is missing"),
      (#"{"calls": [{"name": "a", "operation": "refund", "arguments": {}}]}"#, "$.calls[0].operation: not one of get"),
      (
        #"{"calls": [{"name": "a", "operation": "getTransactionInfo", "arguments": {"transactionId": 1}}]}"#,
        "$.calls[0].arguments.transactionId: a string is expected, not integer"
      ),
      (
        #"{"calls": [{"name": "a", "operation": "getTransactionInfo", "arguments": {}}]}"#,
        "$.calls[0].arguments: `transactionId` is missing"
      ),
      (
        #"{"calls": [{"name": "a", "operation": "getAllSubscriptionStatuses", "arguments": {"transactionId": "1", "status": [1, 6]}}]}"#,
        "$.calls[0].arguments.status[1]: not one of 1, 2, 3, 4, 5"
      ),
    ])
  func `a fault is described with its place`(text: String, fault: String) {
    let error = #expect(throws: OutcomeFault.self) { try Self.decode(text) }
    #expect(error?.description.hasPrefix(fault) == true, "\(error?.description ?? "")")
  }

  @Test func `a state and a payload have limits`() throws {
    let room = OutcomeDecoder.maximumValueBytes - Self.key.utf8.count - 2
    _ = try Self.decode(#"{"state": "\#(String(repeating: "x", count: room))"}"#)
    #expect(throws: OutcomeFault.self) { try Self.decode(#"{"state": "\#(String(repeating: "x", count: room + 1))"}"#) }
    let large = String(repeating: "x", count: OutcomeDecoder.maximumValueBytes)
    #expect(throws: OutcomeFault.self) {
      try Self.decode(#"{"timers": [{"name": "a", "at": null, "payload": "\#(large)"}]}"#)
    }
  }

  @Test func `the arguments of a call have a limit`() throws {
    func calls(_ count: Int) -> String {
      let products = Array(repeating: "\"\(String(repeating: "x", count: 1_000))\"", count: count).joined(
        separator: ",")
      return """
        {"calls": [{"name": "a", "operation": "getTransactionHistory", "arguments":
          {"transactionId": "1", "productId": [\(products)]}}]}
        """

    }
    _ = try Self.decode(calls(60))
    let error = #expect(throws: OutcomeFault.self) { try Self.decode(calls(70)) }
    #expect(error?.description == "$.calls[0].arguments: larger than 65536 bytes")
  }

  @Test func `a whole number may have a fraction of zero, as in JSON Schema`() throws {
    #expect(
      try Self.decode(#"{"retry": {"after": 90.0, "reason": "a"}}"#)
        == .retry(after: .seconds(90), reason: "a", detail: "a"))
    let outcome = try Self.decode(
      """
      {"calls": [{"name": "a", "operation": "extendSubscriptionRenewalDate", "arguments":
        {"originalTransactionId": "1", "extendByDays": 7.0, "extendReasonCode": 1.0, "requestIdentifier": "r"}},
        {"name": "b", "operation": "getAllSubscriptionStatuses", "arguments": {"transactionId": "1", "status": [2.0]}}]}
      """)
    guard case .results(let results) = outcome else { return #expect(Bool(false)) }
    #expect(
      results.calls.first?.arguments["extendByDays"] == 7 && results.calls.first?.arguments["extendReasonCode"] == 1)
    #expect(results.calls.last?.arguments["status"] == [2])
  }

  @Test(arguments: try Samples.named("outcome"))
  func `the samples of the protocol are accepted`(sample: Samples.File) throws {
    _ = try OutcomeDecoder.decode(sample.json, key: Self.key)
    #expect(try SchemaCheck(protocolFile: "outcome").problems(sample.json).isEmpty)
  }

  /// The decoder and the published schema accept the same documents.
  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func `the decoder agrees with the schema on changed samples`(seed: UInt64) throws {
    let schema = try SchemaCheck(protocolFile: "outcome")
    var generator = SplitMix(seed: seed)
    let samples = try Samples.named("outcome").map(\.json)
    for _ in 0..<150 {
      var json = samples[Int(generator.next() % UInt64(samples.count))]
      for _ in 0...(generator.next() % 2) { json = Mutation.of(json, using: &generator) }
      let problems = schema.problems(json)
      var fault: OutcomeFault?
      do { _ = try OutcomeDecoder.decode(json, key: Self.key) } catch { fault = error }
      #expect(
        problems.isEmpty == (fault == nil),
        "seed \(seed): \(String(decoding: json.serialized(), as: UTF8.self)): \(problems) \(fault?.description ?? "")")
    }
  }
}
