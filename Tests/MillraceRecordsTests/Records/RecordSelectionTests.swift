// Tests which records a selection matches, and its JSON form.

import AppStore
import AppStoreSigning
import Foundation
import KafkaClient
import Testing

@testable import MillraceRecords

@Suite struct RecordSelectionTests {
  private static func record(
    _ type: String = "v2.REFUND", subtype: String? = nil, source: String = "appstore/Production/com.example.a",
    key: String? = "k1", partition: Int32 = 0, offset: Int64 = 5, time: Int64 = 1_000, value: [UInt8]? = [1, 2, 3],
    more: [RecordHeader] = []
  ) -> ConsumerRecord {
    var headers = [
      RecordHeader("ce_type", "com.apple.appstore.notification.\(type)"), RecordHeader("ce_source", source),
    ]
    if let subtype { headers.append(RecordHeader("ce_subtype", subtype)) }
    return ConsumerRecord(
      topic: "t", partition: partition, offset: offset, timestamp: time, key: key.map { Array($0.utf8) }, value: value,
      headers: headers + more)
  }

  private static func selection(_ change: (inout RecordSelection) -> Void) -> RecordSelection {
    var selection = RecordSelection()
    change(&selection)
    return selection
  }

  private static func moment(_ milliseconds: Int64) -> Timestamp { Timestamp(millisecondsSince1970: milliseconds) }

  @Test func `each condition matches only the records it names`() {
    let dead = [RecordHeader("millrace-reason", "no-template")]
    // A selection, a record that it matches, and one that it does not match.
    let table: [(RecordSelection, ConsumerRecord, ConsumerRecord)] = [
      (Self.selection { $0.types = ["REFUND"] }, Self.record(), Self.record("v2.REFUND_DECLINED")),
      (Self.selection { $0.types = ["REFUND"] }, Self.record("v1.REFUND"), Self.record("v2.NOT.REFUND")),
      (Self.selection { $0.subtypes = ["FAILURE"] }, Self.record(subtype: "FAILURE"), Self.record()),
      (
        Self.selection { $0.apps = ["com.example.a"] }, Self.record(),
        Self.record(source: "appstore/Production/com.example.ab")
      ),
      (
        Self.selection { $0.environments = ["Production"] }, Self.record(),
        Self.record(source: "appstore/Sandbox/com.example.a")
      ),
      (Self.selection { $0.apps = ["Production"] }, Self.record(source: "appstore/x/Production"), Self.record()),
      (Self.selection { $0.apps = ["com.example.a"] }, Self.record(), Self.record(source: "millrace/com.example.a")),
      (Self.selection { $0.keys = ["k1", "k2"] }, Self.record(key: "k2"), Self.record(key: nil)),
      (Self.selection { $0.partitions = [0, 2] }, Self.record(partition: 2), Self.record(partition: 1)),
      (Self.selection { $0.from = 5 }, Self.record(), Self.record(offset: 4)),
      (Self.selection { $0.to = 6 }, Self.record(), Self.record(offset: 6)),
      (Self.selection { $0.since = Self.moment(1_000) }, Self.record(), Self.record(time: 999)),
      (Self.selection { $0.until = Self.moment(1_001) }, Self.record(), Self.record(time: 1_001)),
      (Self.selection { $0.reasons = ["no-template"] }, Self.record(more: dead), Self.record()),
      (
        Self.selection { $0.topics = ["t"] }, Self.record(),
        ConsumerRecord(
          topic: "u", partition: 0, offset: 5, timestamp: 0, key: nil, value: nil)
      ),
    ]
    for (selection, chosen, other) in table {
      let matcher = RecordMatcher(selection)
      #expect(matcher.matches(chosen), "\(selection)")
      #expect(!matcher.matches(other), "\(selection)")
      // The value of the matched record cannot be decoded, so the matcher did not decode it.
      #expect(matcher.matches(chosen) && RecordMatcher(RecordSelection()).matches(other))
    }
  }

  @Test func `the last of several headers with one name counts, even without a value`() {
    let matcher = RecordMatcher(Self.selection { $0.subtypes = ["B"] })
    #expect(!matcher.matches(Self.record(subtype: "B", more: [RecordHeader("ce_subtype", "A")])))
    #expect(matcher.matches(Self.record(subtype: "A", more: [RecordHeader("ce_subtype", "B")])))
    #expect(!matcher.matches(Self.record(subtype: "B", more: [RecordHeader(name: "ce_subtype", value: nil)])))
  }

  @Test func `a dead letter is matched by the time that the caller passes`() {
    let matcher = RecordMatcher(Self.selection { $0.since = Self.moment(2_000) })
    #expect(!matcher.matches(Self.record()) && matcher.matches(Self.record(), at: Self.moment(2_000)))
  }

  @Test func `a transaction is found by key without decoding, and inside payloads`() throws {
    let matcher = RecordMatcher(Self.selection { $0.transactions = ["77"] })
    #expect(matcher.matches(Self.record(key: "77", value: [0xFF])))
    #expect(!matcher.matches(Self.record(key: "78", value: [0xFF])) && !matcher.matches(Self.record(value: nil)))
    func token(_ payload: String) -> String {
      [#"{"alg":"ES256"}"#, payload].map { text in
        Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
          "=", with: "")
      }.joined(separator: ".") + ".AA"
    }
    for name in ["transactionId", "originalTransactionId"] {
      for inner in ["signedTransactionInfo", "signedRenewalInfo"] {
        func value(_ id: String) -> [UInt8] {
          let transaction = token(#"{"\#(name)":"\#(id)"}"#)
          return Array(token(#"{"data":{"\#(inner)":"\#(transaction)"}}"#).utf8)
        }
        #expect(matcher.matches(Self.record(value: value("77"))), "\(name) in \(inner)")
        #expect(!matcher.matches(Self.record(value: value("770"))), "\(name) in \(inner)")
      }
      // A transaction from an API response is not part of a notification.
      #expect(matcher.matches(Self.record(value: Array(token(#"{"\#(name)":"77"}"#).utf8))))
    }
    let v1 = #"{"notification_type":"CANCEL","unified_receipt":{"latest_receipt_info":[{"transaction_id":"77"}]}}"#
    #expect(matcher.matches(Self.record("v1.CANCEL", value: Array(v1.utf8))))
    #expect(!matcher.matches(Self.record("v1.CANCEL", value: Array(v1.replacing("77", with: "78").utf8))))
  }

  private static func random(_ random: inout SeededGenerator) -> RecordSelection {
    let words = [
      "REFUND", "EXPIRED", "com.example.a", "com.example.b", "Production", "Sandbox", "k1", "it's", "ü \"x\"",
    ]
    func list(_ random: inout SeededGenerator) -> [String] {
      (0..<Int.random(in: 0...2, using: &random)).map { _ in words.randomElement(using: &random) ?? "" }
    }
    var selection = RecordSelection()
    (selection.topics, selection.keys) = (list(&random), list(&random))
    (selection.types, selection.subtypes) = (list(&random), list(&random))
    (selection.apps, selection.environments) = (list(&random), list(&random))
    (selection.transactions, selection.reasons) = (list(&random), list(&random))
    selection.partitions = (0..<Int.random(in: 0...2, using: &random)).map { _ in
      Int32.random(in: 0..<9, using: &random)
    }
    if Bool.random(using: &random) { selection.from = Int64.random(in: 0..<9, using: &random) }
    if Bool.random(using: &random) { selection.to = Int64.random(in: 0..<9, using: &random) }
    if Bool.random(using: &random) { selection.since = moment(Int64.random(in: 0..<4_000_000_000_000, using: &random)) }
    if Bool.random(using: &random) { selection.until = moment(Int64.random(in: 0..<4_000_000_000_000, using: &random)) }
    return selection
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func `a selection parses from its JSON to the same selection`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let selection = Self.random(&random)
    let json = try JSONObject(parsing: JSON.object(selection.json).serialized())
    #expect(RecordSelection(json) == selection, "seed \(seed)")
  }

  @Test func `a selection with unknown conditions is rejected, because it would match too much`() {
    let values: [JSONObject] = [
      ["colour": "red"], ["types": "REFUND"], ["types": [1]], ["since": "yesterday"], ["partitions": [3_000_000_000]],
      ["from": "0"],
    ]
    for value in values { #expect(RecordSelection(value) == nil, "\(value)") }
    #expect(RecordSelection(JSONObject()) == RecordSelection())
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func `a record matches if every condition matches`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let types = ["REFUND", "EXPIRED"]
    let (subtypes, apps) = (["A", "B"], ["a", "b"])
    for _ in 0..<40 {
      var selection = RecordSelection()
      selection.types = types.filter { _ in Bool.random(using: &random) }
      selection.subtypes = subtypes.filter { _ in Bool.random(using: &random) }
      selection.apps = apps.filter { _ in Bool.random(using: &random) }
      selection.environments = Bool.random(using: &random) ? ["Sandbox"] : []
      let (type, app) = (types.randomElement(using: &random) ?? "", apps.randomElement(using: &random) ?? "")
      let subtype = Bool.random(using: &random) ? subtypes.randomElement(using: &random) : nil
      let environment = Bool.random(using: &random) ? "Sandbox" : "Production"
      let record = Self.record("v2.\(type)", subtype: subtype, source: "appstore/\(environment)/\(app)")
      let isMeant =
        (selection.types.isEmpty || selection.types.contains(type))
        && (selection.subtypes.isEmpty || subtype.map { selection.subtypes.contains($0) } ?? false)
        && (selection.apps.isEmpty || selection.apps.contains(app))
        && (selection.environments.isEmpty || environment == "Sandbox")
      #expect(RecordMatcher(selection).matches(record) == isMeant, "seed \(seed): \(selection) \(record)")
    }
  }

  @Test func `a selection is printed as quoted shell arguments`() {
    let selection = Self.selection { selection in
      (selection.types, selection.keys) = (["REFUND"], ["it's"])
      (selection.partitions, selection.from) = ([3], 7)
    }
    #expect("\(selection)" == #"--key 'it'\''s' --type REFUND --partition 3 --from 7"#)
  }
}
