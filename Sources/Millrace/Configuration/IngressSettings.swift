/// `ingress`: the HTTP endpoint that Apple posts to.
public struct IngressSettings: Sendable, Hashable {
  /// TLS; both files or neither.
  public struct TLS: Sendable, Hashable {
    /// PEM file of the certificate chain, leaf first. Read again when it changes.
    public var certificate: String?
    /// PEM file of the private key.
    public var key: String?

    /// The two files; nil for plain HTTP.
    public var files: (certificate: String, key: String)? {
      guard let certificate, let key else { return nil }
      return (certificate, key)
    }
  }

  /// The largest accepted bodies, in bytes. Larger ones are answered with 413.
  public struct BodyLimits: Sendable, Hashable {
    /// Version 1: up to a hundred rows and a receipt.
    public var v1 = 2 << 20
    /// Version 2: about 17 kB in practice.
    public var v2 = 256 << 10
  }

  /// The answer to a well-formed ES256 body whose only fault is its certificate chain, or whose app or environment is
  /// not configured.
  public enum Unverifiable: String, Sendable, Hashable, CaseIterable {
    /// 503. Apple sends it again, so a change at Apple loses nothing.
    case retry
    /// 401. The body is refused for good.
    case refuse
  }

  /// The address to listen on.
  public var host = "0.0.0.0"
  /// The TCP port; 0 lets the system choose.
  public var port = 8080
  /// TLS; used if both files are set.
  public var tls = TLS()
  /// The time limit from the end of a request's head to its response, including Kafka's acknowledgement.
  public var deadline = Duration.seconds(10)
  /// The largest accepted bodies.
  public var maxBodyBytes = BodyLimits()
  /// The largest request head, in bytes. A larger one is answered with 400, and the connection is closed.
  public var maxHeaderBytes = 16 << 10
  /// How long a client may take to send a request's head.
  public var headerTimeout = Duration.seconds(5)
  /// How long a client may take to send a request's body.
  public var bodyTimeout = Duration.seconds(5)
  /// The maximum number of requests being verified or written. Further requests are answered with 503.
  public var maxRequestsInFlight = 512
  /// The maximum number of open connections. Further connections wait until one closes.
  public var maxConnections = 4096
  /// The value of `Retry-After` in a 503 response.
  public var retryAfter = Duration.seconds(60)
  /// The answer to a body that may be genuine but cannot be verified.
  public var unverifiable = Unverifiable.retry
  /// The maximum number of refused bodies copied to `millrace.quarantine` per minute. Bodies with a valid outer
  /// signature or shared secret have a second limit of the same size. 0 copies none.
  public var quarantinePerMinute = 600

  /// The defaults.
  public init() {}
}
