package import MillraceTime
package import AppStoreSignature

extension TrustSettings.RevocationCheck {
  /// Returns a revocation check with these settings; `nil` if online revocation is off.
  ///
  /// - Parameters:
  ///   - clock: The clock whose current time answers must be valid at. The time limit for an answer is measured in real time.
  ///   - transport: Sends the requests.
  package func checker(
    clock: MillraceClock, transport: any OCSPTransport = HTTPOCSPTransport()
  ) -> (any RevocationChecking)? {
    guard enabled else { return nil }
    var limits = OCSPRevocation.Limits()
    limits.time = timeout
    limits.failure = failureMemory
    return OCSPRevocation(transport: transport, limits: limits, now: { clock.wallTime })
  }
}
