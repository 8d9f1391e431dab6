/// `ingress`: the HTTP endpoint that Apple posts to.
package struct IngressSettings: Sendable, Hashable {
  /// TLS; both files or neither.
  package struct TLS: Sendable, Hashable {
    /// PEM file of the certificate chain, leaf first. Read again when it changes.
    package var certificate: String?
    /// PEM file of the private key.
    package var key: String?

    /// The two files; nil for plain HTTP.
    package var files: (certificate: String, key: String)? {
      guard let certificate, let key else { return nil }
      return (certificate, key)
    }
  }

  /// The largest accepted bodies, in bytes. Larger ones are answered with 413.
  package struct BodyLimits: Sendable, Hashable {
    /// Version 1: up to a hundred rows and a receipt.
    package var v1 = 2 << 20
    /// Version 2: about 17 kB in practice.
    package var v2 = 256 << 10
  }

  /// The answer to a well-formed ES256 body whose only fault is its certificate chain, or whose app or environment is
  /// not configured.
  package enum Unverifiable: String, Sendable, Hashable, CaseIterable {
    /// 503. Apple sends it again, so a change at Apple loses nothing.
    case retry
    /// 401. The body is refused for good.
    case refuse
  }

  /// The address to listen on.
  package var host = "0.0.0.0"
  /// The TCP port; 0 lets the system choose.
  package var port = 8080
  /// TLS; used if both files are set.
  package var tls = TLS()
  /// The time limit from the end of a request's head to its response, including Kafka's acknowledgement.
  package var deadline = Duration.seconds(10)
  /// The largest accepted bodies.
  package var maxBodyBytes = BodyLimits()
  /// The largest request head, in bytes. A larger one is answered with 400, and the connection is closed.
  package var maxHeaderBytes = 16 << 10
  /// How long a client may take to send a request's head.
  package var headerTimeout = Duration.seconds(5)
  /// How long a client may take to send a request's body.
  package var bodyTimeout = Duration.seconds(5)
  /// The maximum number of requests being verified or written. Further requests are answered with 503.
  package var maxRequestsInFlight = 512
  /// The maximum number of open connections. Further connections wait until one closes.
  package var maxConnections = 4096
  /// The value of `Retry-After` in a 503 response.
  package var retryAfter = Duration.seconds(60)
  /// The answer to a body that may be genuine but cannot be verified.
  package var unverifiable = Unverifiable.retry
  /// The maximum number of refused bodies copied to `millrace.quarantine` per minute. Bodies with a valid outer
  /// signature or shared secret have a second limit of the same size. 0 copies none.
  package var quarantinePerMinute = 600

  /// The defaults.
  package init() {}
}
