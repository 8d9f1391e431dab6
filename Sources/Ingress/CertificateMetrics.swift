// Which certificates matter to the ingress, and when they end: the one it presents, and those that Apple signs with.

internal import AppStore
internal import AppStoreSignature
public import Millrace

extension IngressServer {
  static let certificateEndName = "millrace_ingress_certificate_end_seconds"
  static let certificateEndHelp = "When the endpoint's own certificate ends, in seconds since 1970."
  static let appleLeafName = "millrace_ingress_apple_certificate_end_seconds"
  static let appleLeafHelp = "When Apple's signing certificates end that were seen since the start, by fingerprint."

  /// What is asked for when somebody reads the metrics. Fingerprints are a closed set: only what Apple's root vouches for
  /// has one.
  public var collectors: [MetricCollector] {
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
