// Revocation checks by OCSP. swift-certificates verifies the responses; this file adds time limits, caching and
// coalescing of concurrent requests.
public import AppStore
public import MillraceTime
import SwiftASN1
import Synchronization
@_spi(DisableValidityCheck) @_spi(FixedExpiryValidationTime) import X509

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Queries the OCSP responders named by the leaf and intermediate, as RFC 6960 describes, and caches the results.
///
/// Only a response that says `revoked` and is signed by the issuer revokes. Any other result except `good` is
/// ``RevocationStatus/unavailable(_:)``: no response, a stale or unreadable one, or `unknown`. Apple's responder has
/// been observed to fail for hours, and losing notifications during that time would be worse than keeping them. A
/// certificate that names no responder counts as good.
public final class OCSPRevocation: RevocationChecking {
  /// Time limits and the cache size.
  public struct Limits: Sendable, Hashable {
    /// The time limit for all queries about one chain together; at most 10 s, which is swift-certificates' own limit.
    public var time: Duration = .seconds(5)
    /// The longest time for which a result is cached. A response's `nextUpdate` can shorten it.
    public var answer: Duration = .seconds(15 * 60)
    /// The time for which a failure is cached, so that an outage does not cost every notification the full time limit.
    public var failure: Duration = .seconds(30)
    /// The number of cached chains; at least one.
    public var capacity = 32

    /// The defaults: 5 s, 15 minutes, 30 s, 32 chains.
    public init() {}
  }

  private let transport: any OCSPTransport
  private let limits: Limits
  private let now: @Sendable () -> Timestamp
  private let clock: MillraceClock
  private let memory: Mutex<RevocationMemory<Task<RevocationStatus, Never>>>

  /// - Parameters:
  ///   - transport: sends requests to responders.
  ///   - now: the current time.
  ///   - clock: measures the time limit.
  public init(
    transport: any OCSPTransport, limits: Limits = Limits(),
    now: @escaping @Sendable () -> Timestamp = SignedDataVerifier.systemTime,
    clock: MillraceClock = .system
  ) {
    self.transport = transport
    self.limits = limits
    self.now = now
    self.clock = clock
    memory = Mutex(RevocationMemory(capacity: limits.capacity))
  }

  /// Returns the cached status or queries the responders. At most one query per chain is in progress. It continues if a
  /// caller is cancelled, because others may wait for it.
  public func status(of chain: CertificateChain) async -> RevocationStatus {
    let found: Found = memory.withLock { memory in
      switch memory.answer(for: chain, now: now()) {
      case .known(let status): return .status(status)
      case .join(let flight): return .flight(flight)
      case .ask:
        let flight = Task { await self.ask(about: chain) }
        memory.begin(flight, for: chain)
        return .flight(flight)
      }
    }
    return switch found {
    case .status(let status): status
    case .flight(let flight): await flight.value
    }
  }

  private enum Found: Sendable {
    case status(RevocationStatus)
    case flight(Task<RevocationStatus, Never>)
  }

  private func ask(about chain: CertificateChain) async -> RevocationStatus {
    let requester = RecordingRequester(transport)
    let moment = now()
    let status: RevocationStatus
    do {
      let found = try await clock.result(within: limits.time) { await Self.evaluate(chain, requester, at: moment) }
      status = found ?? .unavailable("no response within \(limits.time)")
    } catch {
      status = .unavailable("the check was cancelled")
    }
    let asked = now()
    let until: Timestamp
    switch status {
    case .good, .revoked:
      let bounded = asked + limits.answer
      until = OCSPExpiry.earliestNextUpdate(in: requester.responses).map { min($0, bounded) } ?? bounded
    case .unavailable:
      until = asked + limits.failure
    }
    // A result that is about to expire is cached as briefly as a failure, so that not every token causes a query.
    memory.withLock { $0.finish(chain, status, until: max(until, asked + min(limits.failure, limits.answer))) }
    return status
  }

  private static func evaluate(
    _ chain: CertificateChain, _ requester: RecordingRequester, at moment: Timestamp
  ) async -> RevocationStatus {
    let certificates: [Certificate]
    do {
      certificates = try [chain.leaf, chain.intermediate, chain.root].map { try Certificate(derEncoded: $0) }
    } catch {
      return .unavailable("cannot parse the chain")
    }
    let date = Date(timeIntervalSince1970: Double(moment.millisecondsSince1970) / 1000)
    var verifier = Verifier(rootCertificates: CertificateStore([certificates[2]])) {
      RFC5280Policy.withValidityCheckDisabled()
      OCSPVerifierPolicy(failureMode: .hard, requester: requester, fixedExpiryValidationTime: date)
    }
    switch await verifier.validate(leaf: certificates[0], intermediates: CertificateStore([certificates[1]])) {
    case .validCertificate:
      return .good
    case .couldNotValidate(let failures):
      let reason = failures.first?.policyFailureReason.description ?? "the chain is not valid"
      // swift-certificates distinguishes a verified "revoked" from other failures by its text only. A test covers this.
      return reason.hasPrefix("revoked through OCSP") ? .revoked(reason) : .unavailable(reason)
    }
  }
}
