// The part of the configuration that only the ingress reads: limits come before work, and each has a key.

/// `ingress`: the HTTP endpoint that Apple posts to.
public struct IngressSettings: Sendable, Hashable {
  /// TLS; both files or neither.
  public struct TLS: Sendable, Hashable {
    /// PEM file of the certificate chain, leaf first. Read again when it changes.
    public var certificate: String?
    /// PEM file of the private key.
    public var key: String?

    /// The two files, when TLS is wanted.
    public var files: (certificate: String, key: String)? {
      guard let certificate, let key else { return nil }
      return (certificate, key)
    }
  }

  /// The largest bodies accepted, in bytes; beyond: 413.
  public struct BodyLimits: Sendable, Hashable {
    /// Version 1: up to a hundred rows and a receipt.
    public var v1 = 2 << 20
    /// Version 2: about 17 kB in practice.
    public var v2 = 256 << 10
  }

  /// The answer to a well-formed ES256 body whose only fault is its chain, or whose app or environment is not
  /// configured.
  public enum Unverifiable: String, Sendable, Hashable, CaseIterable {
    /// 503: Apple sends it again, and a change at Apple loses nothing.
    case retry
    /// 401: refused for good.
    case refuse
  }

  /// The address to listen on.
  public var host = "0.0.0.0"
  /// The TCP port; 0 lets the system choose.
  public var port = 8080
  /// TLS, when both files are named.
  public var tls = TLS()
  /// From the end of a request's head to its answer, Kafka's acknowledgement included.
  public var deadline = Duration.seconds(10)
  /// The largest bodies.
  public var maxBodyBytes = BodyLimits()
  /// The largest request head, in bytes; beyond: 400 and the connection closes.
  public var maxHeaderBytes = 16 << 10
  /// How long a client may take to send a request's head.
  public var headerTimeout = Duration.seconds(5)
  /// How long a client may take to send a request's body.
  public var bodyTimeout = Duration.seconds(5)
  /// Requests between the end of their body and their answer at one time; beyond: 503.
  public var maxRequestsInFlight = 512
  /// Open connections at one time; beyond: not accepted until one closes.
  public var maxConnections = 4096
  /// What `Retry-After` says with a 503.
  public var retryAfter = Duration.seconds(60)
  /// What is answered to a body that may be genuine but cannot be verified.
  public var unverifiable = Unverifiable.retry
  /// The most refused bodies copied to `millrace.quarantine` in a minute, and as many again whose outside is genuine;
  /// 0 copies none.
  public var quarantinePerMinute = 600

  /// The defaults.
  public init() {}
}
