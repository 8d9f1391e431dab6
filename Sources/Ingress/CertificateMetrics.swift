// Metrics for the expiry of certificates: the one that the ingress presents, and those that Apple signs with.

internal import AppStore
internal import AppStoreSignature
package import MillraceCore
internal import MillraceRecords

extension IngressServer {
  static let certificateEndName = "millrace_ingress_certificate_end_seconds"
  static let certificateEndHelp = "When the endpoint's own certificate expires, in seconds since 1970."
  static let appleLeafName = "millrace_ingress_apple_certificate_end_seconds"
  static let appleLeafHelp =
    "When the Apple signing certificates seen since the start expire, in seconds since 1970, by fingerprint."

  /// Collectors that compute values when metrics are scraped. Only certificates verified against Apple's root have a
  /// fingerprint label, so the set is closed.
  package var collectors: [MetricCollector] {
    let (admission, certificate) = (admission, certificate)
    let apple = MetricCollector(Self.appleLeafName, .gauge, help: Self.appleLeafHelp) {
      admission.provenLeaves.map { leaf in
        .init(
          Double(leaf.notAfter.millisecondsSince1970) / 1_000, labels: [("leaf", String(leaf.fingerprint.prefix(16)))])
      }
    }
    guard let certificate else { return [apple] }
    let own = MetricCollector(Self.certificateEndName, .gauge, help: Self.certificateEndHelp) {
      certificate.end.map { [.init(Double($0))] } ?? []
    }
    return [apple, own]
  }
}
