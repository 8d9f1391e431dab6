import AppStore
import Testing
import Tracing

@testable import OpenTelemetry

@Suite struct TraceRequestTests {
  private static let place = SpanContext(
    traceID: Array(repeating: 0xAB, count: 16), spanID: Array(repeating: 0x01, count: 8), isSampled: true)

  private static func span(_ json: JSONObject) throws -> JSONObject {
    func first(_ json: JSONObject, _ name: String) throws -> JSONObject {
      guard case .array(let values)? = json[name], case .object(let object)? = values.first else {
        throw Missing(name: name)
      }
      return object
    }
    return try first(first(first(json, "resourceSpans"), "scopeSpans"), "spans")
  }

  private struct Missing: Error { var name: String }

  @Test func `A request has the members that OTLP names, with ids in hexadecimal and numbers as text`() throws {
    var link = ServiceContext.topLevel
    Self.place.write(to: &link)
    let span = FinishedSpan(
      place: Self.place, parentID: Array(repeating: 0x02, count: 8), name: "refunds handle", kind: .consumer,
      start: 1_767_225_600_000_000_001, end: 1_767_225_600_000_000_009,
      attributes: [
        "text": "a", "number": 7, "flag": true, "share": 0.5, "list": .stringArray(["x", "y"]), "none": .double(.nan),
      ],
      events: [SpanEvent(name: "waits-for-apple", at: At(nanosecondsSinceEpoch: 5))],
      links: [SpanLink(context: link, attributes: [:]), SpanLink(context: .topLevel, attributes: [:])],
      status: SpanStatus(code: .error, message: "refused"))
    let request = TraceRequest(resource: TraceResource(service: "millrace-refunds", instance: "a1"), spans: [span])
    let json = try Self.span(try JSONObject(parsing: request.body))
    #expect(json["traceId"] == .string(String(repeating: "ab", count: 16)))
    #expect(json["spanId"] == "0101010101010101" && json["parentSpanId"] == "0202020202020202")
    #expect(json["name"] == "refunds handle" && json["kind"] == 5)
    #expect(json["startTimeUnixNano"] == "1767225600000000001" && json["endTimeUnixNano"] == "1767225600000000009")
    let status: JSON = ["code": 2, "message": "refused"]
    let events: JSON = [["timeUnixNano": "5", "name": "waits-for-apple", "attributes": []]]
    #expect(json["status"] == status && json["events"] == events)
    guard case .array(let links)? = json["links"], case .array(let attributes)? = json["attributes"] else {
      throw Missing(name: "links")
    }
    #expect(links.count == 1, "a link to nothing is left out")
    let expected: [JSON] = [
      ["key": "text", "value": ["stringValue": "a"]], ["key": "number", "value": ["intValue": "7"]],
      ["key": "flag", "value": ["boolValue": true]], ["key": "share", "value": ["doubleValue": .number("0.5")]],
      ["key": "list", "value": ["arrayValue": ["values": [["stringValue": "x"], ["stringValue": "y"]]]]],
      ["key": "none", "value": ["stringValue": "nan"]],
    ]
    #expect(Set(attributes) == Set(expected))
    let text = String(decoding: request.body, as: UTF8.self)
    #expect(text.contains(#"{"key":"service.name","value":{"stringValue":"millrace-refunds"}}"#))
    #expect(text.contains(#"{"key":"service.instance.id","value":{"stringValue":"a1"}}"#))
  }

  private struct At: TracerInstant {
    var nanosecondsSinceEpoch: UInt64
    static func < (left: At, right: At) -> Bool { left.nanosecondsSinceEpoch < right.nanosecondsSinceEpoch }
  }
}
