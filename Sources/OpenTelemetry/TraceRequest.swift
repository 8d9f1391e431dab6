// OTLP 1.3 in JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): ids are hexadecimal, and 64-bit
// numbers are strings.

internal import AppStore
internal import MillraceCore
internal import Tracing

/// The process that the spans describe (OpenTelemetry's conventions for services).
struct TraceResource: Sendable, Hashable {
  /// `service.name`: the name of the ingress or the worker.
  var service: String
  /// `service.instance.id`: distinguishes replicas.
  var instance: String
}

func hex(_ bytes: [UInt8]) -> String { Hex.text(bytes) }

/// The body of a request to `/v1/traces`.
struct TraceRequest {
  var resource: TraceResource
  var spans: [FinishedSpan]

  var body: [UInt8] {
    let attributes: [JSON] = [
      Self.attribute("service.name", ["stringValue": .string(resource.service)]),
      Self.attribute("service.version", ["stringValue": .string(MillraceVersion.current)]),
      Self.attribute("service.instance.id", ["stringValue": .string(resource.instance)]),
    ]
    let scope: JSON = ["name": "millrace", "version": .string(MillraceVersion.current)]
    let scoped: JSON = ["scope": scope, "spans": .array(spans.map(Self.json))]
    let resourceSpans: JSON = ["resource": ["attributes": .array(attributes)], "scopeSpans": .array([scoped])]
    let request: JSONObject = ["resourceSpans": .array([resourceSpans])]
    return request.serialized()
  }

  private static func json(_ span: FinishedSpan) -> JSON {
    var json: JSONObject = [
      "traceId": .string(hex(span.place.traceID)), "spanId": .string(hex(span.place.spanID)), "flags": 1,
      "name": .string(span.name), "kind": .integer(number(of: span.kind)),
      "startTimeUnixNano": .string(String(span.start)), "endTimeUnixNano": .string(String(span.end)),
      "attributes": .array(attributes(span.attributes)),
    ]
    json["parentSpanId"] = span.parentID.map { .string(hex($0)) }
    if !span.events.isEmpty {
      json["events"] = .array(
        span.events.map { event in
          [
            "timeUnixNano": .string(String(event.nanosecondsSinceEpoch)), "name": .string(event.name),
            "attributes": .array(attributes(event.attributes)),
          ]
        })
    }
    let links = span.links.compactMap { link in
      SpanContext.of(link.context).map { place -> JSON in
        [
          "traceId": .string(hex(place.traceID)), "spanId": .string(hex(place.spanID)),
          "attributes": .array(attributes(link.attributes)),
        ]
      }
    }
    if !links.isEmpty { json["links"] = .array(links) }
    if let status = span.status {
      var object: JSONObject = ["code": .integer(status.code == .error ? 2 : 1)]
      object["message"] = status.message.map { .string($0) }
      json["status"] = .object(object)
    }
    return .object(json)
  }

  /// `SpanKind` of OTLP's trace.proto.
  private static func number(of kind: SpanKind) -> Int64 {
    switch kind {
    case .internal: 1
    case .server: 2
    case .client: 3
    case .producer: 4
    case .consumer: 5
    }
  }

  private static func attributes(_ attributes: SpanAttributes) -> [JSON] {
    var found: [JSON] = []
    attributes.forEach { name, value in found.append(attribute(name, Self.value(value))) }
    return found
  }

  private static func attribute(_ name: String, _ value: JSON) -> JSON { ["key": .string(name), "value": value] }

  private static func value(_ attribute: SpanAttribute) -> JSON {
    switch attribute {
    case .int32(let value): integer(Int64(value))
    case .int64(let value): integer(value)
    case .double(let value): number(value)
    case .bool(let value): ["boolValue": .bool(value)]
    case .string(let value): ["stringValue": .string(value)]
    case .stringConvertible(let value): ["stringValue": .string("\(value)")]
    case .int32Array(let values): array(values.map { integer(Int64($0)) })
    case .int64Array(let values): array(values.map(integer))
    case .doubleArray(let values): array(values.map(number))
    case .boolArray(let values): array(values.map { ["boolValue": .bool($0)] })
    case .stringArray(let values): array(values.map { ["stringValue": .string($0)] })
    case .stringConvertibleArray(let values): array(values.map { ["stringValue": .string("\($0)")] })
    default: ["stringValue": .string("\(attribute)")]
    }
  }

  private static func integer(_ value: Int64) -> JSON { ["intValue": .string(String(value))] }

  /// JSON has no infinity and no NaN.
  private static func number(_ value: Double) -> JSON {
    value.isFinite ? ["doubleValue": .number("\(value)")] : ["stringValue": .string("\(value)")]
  }

  private static func array(_ values: [JSON]) -> JSON { ["arrayValue": ["values": .array(values)]] }
}
