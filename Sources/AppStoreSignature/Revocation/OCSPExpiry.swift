// Reads the expiration time of an OCSP response. swift-certificates checks it but does not expose it.
import AppStore
import SwiftASN1

/// Reads `nextUpdate` from verified responses.
enum OCSPExpiry {
  /// Returns the earliest `nextUpdate` of these responses; nil if none can be read.
  static func earliestNextUpdate(in responses: [[UInt8]]) -> Timestamp? {
    var earliest: Timestamp?
    for response in responses {
      do {
        for update in try nextUpdates(in: response) {
          earliest = earliest.map { min($0, update) } ?? update
        }
      } catch {
        // The response was just verified and is therefore readable. An unknown structure only shortens the caching.
        continue
      }
    }
    return earliest
  }

  /// `OCSPResponse` → `responseBytes` → `BasicOCSPResponse` → `tbsResponseData` → `responses` → `nextUpdate`,
  /// section 4.2.1 of RFC 6960.
  private static func nextUpdates(in response: [UInt8]) throws -> [Timestamp] {
    guard
      let explicit = children(try DER.parse(response)).dropFirst().first,
      let responseBytes = children(explicit).first,
      let octets = children(responseBytes).dropFirst().first,
      let data = children(try DER.parse(ASN1OctetString(derEncoded: octets).bytes)).first,
      let singles = children(data).first(where: { $0.identifier == .sequence })
    else { return [] }
    return try children(singles).compactMap { single in
      let field = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
      // The certificate's status can have the same tag; nextUpdate follows it and thisUpdate.
      guard let nextUpdate = children(single).dropFirst(3).first(where: { $0.identifier == field }) else { return nil }
      return try children(nextUpdate).first.map { timestamp(try GeneralizedTime(derEncoded: $0)) }
    }
  }

  private static func children(_ node: ASN1Node) -> [ASN1Node] {
    guard case .constructed(let nodes) = node.content else { return [] }
    return Array(nodes)
  }

  /// Computes days from a civil date with Howard Hinnant's algorithm. The year begins in March.
  private static func timestamp(_ time: GeneralizedTime) -> Timestamp {
    let year = Int64(time.month <= 2 ? time.year - 1 : time.year)
    let month = Int64(time.month > 2 ? time.month - 3 : time.month + 9)
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * month + 2) / 5 + Int64(time.day) - 1
    let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    let seconds = days * 86_400 + Int64(time.hours) * 3_600 + Int64(time.minutes) * 60 + Int64(time.seconds)
    return Timestamp(millisecondsSince1970: seconds * 1000)
  }
}
