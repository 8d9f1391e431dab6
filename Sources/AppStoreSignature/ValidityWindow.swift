// When a chain holds.
import AppStore
import X509

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The dates between which all three certificates of a chain hold, both included.
///
/// Certificates count whole seconds: the last second counts to its end.
struct ValidityWindow: Sendable, Hashable {
  let notBefore: Timestamp
  let notAfter: Timestamp

  init(notBefore: Timestamp, notAfter: Timestamp) {
    self.notBefore = notBefore
    self.notAfter = notAfter
  }

  /// The intersection of the validity of all `certificates`; contains nothing when they never held together.
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

  /// X.509 dates lie between the years 0 and 9999, far inside what 64 bits of milliseconds hold.
  private static func milliseconds(_ date: Date) -> Int64 {
    Int64(date.timeIntervalSince1970.rounded(.down)) * 1000
  }
}
