// The validity period of a chain.
import AppStore
import X509

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The dates between which all three certificates of a chain are valid, both inclusive.
///
/// Certificates have a precision of one second: the last second counts in full.
struct ValidityWindow: Sendable, Hashable {
  let notBefore: Timestamp
  let notAfter: Timestamp
}

extension ValidityWindow {
  /// The intersection of the validity of all `certificates`; empty if they were never valid at the same time.
  init(of certificates: [Certificate]) {
    var (begin, end) = (Int64.min, Int64.max)
    for certificate in certificates {
      begin = max(begin, Self.milliseconds(certificate.notValidBefore))
      end = min(end, Self.milliseconds(certificate.notValidAfter) + 999)
    }
    notBefore = Timestamp(millisecondsSince1970: begin)
    notAfter = Timestamp(millisecondsSince1970: end)
  }

  func contains(_ moment: Timestamp) -> Bool { notBefore <= moment && moment <= notAfter }

  /// X.509 dates are between the years 0 and 9999, well within 64 bits of milliseconds.
  private static func milliseconds(_ date: Date) -> Int64 {
    Int64(date.timeIntervalSince1970.rounded(.down)) * 1000
  }
}
