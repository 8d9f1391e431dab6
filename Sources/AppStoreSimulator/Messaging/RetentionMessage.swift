// The body of Upload Message, checked against the lengths in Apple's models.

internal import AppStore

/// The part of a message that the catalogue needs.
struct RetentionMessage: Sendable, Hashable {
  /// All images of the message, including bullet point images.
  let images: Set<CompactUUID>

  private static let headerLength = 66
  private static let bodyLength = 144
  private static let altTextLength = 150
  private static let bulletPointCount = 5
  private static let bulletPointLength = 66

  /// - Throws: Apple's error for the first invalid member.
  init(_ body: JSONObject) throws(APIFailure) {
    _ = try Self.text(body, "header", upTo: Self.headerLength, else: .headerTooLong)
    _ = try Self.text(body, "body", upTo: Self.bodyLength, else: .bodyTooLong)
    var images: Set<CompactUUID> = []
    let image = try Self.object(body["image"])
    if let image { images.insert(try Self.image(in: image)) }
    switch body["headerPosition"] {
    case nil, .null, "ABOVE_BODY": break
    case "ABOVE_IMAGE": if image == nil { throw .aboveImageRequiresAnImage }
    default: throw .badRequest
    }
    switch body["bulletPoints"] {
    case nil, .null: break
    case .array(let points):
      guard points.count <= Self.bulletPointCount else { throw .tooManyBulletPoints }
      for point in points {
        guard let point = try Self.object(point) else { throw .badRequest }
        _ = try Self.text(point, "text", upTo: Self.bulletPointLength, else: .bulletPointTextTooLong)
        images.insert(try Self.image(in: point))
      }
    default: throw .badRequest
    }
    self.images = images
  }

  private static func object(_ value: JSON?) throws(APIFailure) -> JSONObject? {
    switch value {
    case nil, .null: return nil
    case .object(let object): return object
    default: throw .badRequest
    }
  }

  /// Returns the identifier of an image that has an alternative text.
  private static func image(in object: JSONObject) throws(APIFailure) -> CompactUUID {
    guard case .string(let text) = object["imageIdentifier"], let id = CompactUUID(text) else { throw .badRequest }
    _ = try Self.text(object, "altText", upTo: altTextLength, else: .altTextTooLong)
    return id
  }

  private static func text(
    _ object: JSONObject, _ name: String, upTo length: Int, else failure: APIFailure
  ) throws(APIFailure) -> String {
    guard case .string(let text) = object[name] else { throw .badRequest }
    guard text.count <= length else { throw failure }
    return text
  }
}
