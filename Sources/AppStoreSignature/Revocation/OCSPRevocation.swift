// Revocation by OCSP: swift-certificates judges the responses; limits, memory and one question at a time are ours.
public import AppStore
import SwiftASN1
import Synchronization
@_spi(DisableValidityCheck) @_spi(FixedExpiryValidationTime) import X509

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Asks the OCSP responders that leaf and intermediate name, as RFC 6960 describes, and remembers what they say.
///
/// Only a response signed by the issuer that says `revoked` revokes. Everything else that is not `good` (no answer, a
/// stale or unreadable one, `unknown`) is ``RevocationStatus/unavailable(_:)``: Apple's responder has been seen to fail
/// for hours, and losing notifications then would be worse than keeping them. A certificate that names no responder
/// counts as good.
public final class OCSPRevocation: RevocationChecking {
  /// How long to wait and to remember.
  public struct Limits: Sendable, Hashable {
    /// For all questions about one chain together; at most 10 s, which is swift-certificates' own limit.
    public var time: Duration = .seconds(5)
    /// For how long an answer is believed at most; a response's `nextUpdate` can make it shorter.
    public var answer: Duration = .seconds(15 * 60)
    /// For how long a failure is remembered, so that an outage does not cost every notification the whole time limit.
    public var failure: Duration = .seconds(30)
    /// Chains that are remembered, at least one.
    public var capacity = 32

    /// 5 s, 15 minutes, 30 s, 32 chains.
    public init() {}
  }

  private let transport: any OCSPTransport
  private let limits: Limits
  private let now: @Sendable () -> Timestamp
  private let sleep: @Sendable (Duration) async throws -> Void
  private let memory: Mutex<RevocationMemory<Task<RevocationStatus, Never>>>

  /// - Parameters:
  ///   - transport: carries requests to responders.
  ///   - now: the present.
  ///   - sleep: measures the time limit; ends early by throwing when its task is cancelled.
  public init(
    transport: any OCSPTransport, limits: Limits = Limits(),
    now: @escaping @Sendable () -> Timestamp = SignedDataVerifier.systemTime,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.transport = transport
    self.limits = limits
    self.now = now
    self.sleep = sleep
    memory = Mutex(RevocationMemory(capacity: limits.capacity))
  }

  /// What is remembered, or what the responders say now. One question per chain is under way at a time; it goes on when
  /// a caller is cancelled, because others wait for it.
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
    let found = await withTimeLimit(limits.time, sleep: sleep) {
      await Self.evaluate(chain, requester, at: moment)
    }
    let status = found ?? .unavailable("no answer within \(limits.time)")
    let asked = now()
    let until: Timestamp
    switch status {
    case .good, .revoked:
      let bounded = asked + limits.answer
      until = OCSPExpiry.earliestNextUpdate(in: requester.responses).map { min($0, bounded) } ?? bounded
    case .unavailable:
      until = asked + limits.failure
    }
    // An answer at the very end of its life is remembered as briefly as a failure, not asked for by every token.
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
      return .unavailable("the chain cannot be read")
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
      let reason = failures.first?.policyFailureReason.description ?? "the chain does not hold"
      // swift-certificates tells a verified "revoked" from other failures by its text alone; a test watches it.
      return reason.hasPrefix("revoked through OCSP") ? .revoked(reason) : .unavailable(reason)
    }
  }
}
