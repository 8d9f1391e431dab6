// From the configuration to what asks about revocation.

public import Clocks
public import AppStoreSignature

extension TrustSettings.Revocation {
  /// What asks OCSP responders as these settings say; `nil` when nobody is to be asked.
  ///
  /// - Parameters:
  ///   - clock: Whose present answers are judged at, and whose timers limit the waiting.
  ///   - transport: Carries the questions.
  public func checker(
    clock: MillraceClock, transport: any OCSPTransport = HTTPOCSPTransport()
  ) -> (any RevocationChecking)? {
    guard enabled else { return nil }
    var limits = OCSPRevocation.Limits()
    limits.time = timeout
    limits.failure = failureMemory
    return OCSPRevocation(
      transport: transport, limits: limits, now: { clock.wallTime },
      sleep: { try await clock.sleep(until: clock.now.advanced(by: $0), tolerance: nil) })
  }
}
