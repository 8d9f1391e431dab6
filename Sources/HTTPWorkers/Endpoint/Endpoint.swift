// The endpoint of a worker as its configuration describes it now, ready to sign and send requests.

package import AppStore
package import AppStoreServerAPI
package import MillraceCore
internal import MillraceTime
package import MillraceWorker

/// An endpoint, its secrets and its connections.
package struct Endpoint: Sendable {
  /// The URL.
  package var url: String
  /// How much of a notification it receives.
  package var payload: HandlerSettings.Payload
  /// The time limit of a request, in real time.
  package var timeout: Duration
  /// Signs the requests.
  package var signature: WebhookSignature
  /// Sends the requests.
  package var exchange: any HTTPExchange
  /// Whether requests must have no effect.
  package var isDryRun = false

  /// Creates an endpoint.
  package init(
    url: String, payload: HandlerSettings.Payload, timeout: Duration, signature: WebhookSignature,
    exchange: any HTTPExchange, isDryRun: Bool = false
  ) {
    self.isDryRun = isDryRun
    self.url = url
    self.payload = payload
    self.timeout = timeout
    self.signature = signature
    self.exchange = exchange
  }

  /// The settings of an exchange for endpoints.
  package static func connections(_ handler: HandlerSettings, count: Int) -> AsyncHTTPExchange.Configuration {
    var connections = AsyncHTTPExchange.Configuration()
    connections.connectionsPerHost = max(connections.connectionsPerHost, count)
    connections.maxBodyBytes = EndpointAnswer.maximumBodyBytes
    connections.cutsOffBodies = true
    connections.tls = TLSFiles(
      authority: handler.certificateAuthorityFile, certificate: handler.certificateFile, key: handler.keyFile)
    return connections
  }

  /// Reads the secrets of a handler.
  /// - Parameter name: The name of the worker, for errors.
  package static func signature(_ handler: HandlerSettings, of name: String) throws(MillraceError) -> WebhookSignature {
    var secrets: [[UInt8]] = []
    for (key, file) in [("secretFile", handler.secretFile), ("previousSecretFile", handler.previousSecretFile)] {
      guard let file else { continue }
      let place = "\(place(of: name)).\(key)"
      let secret: [UInt8]
      do { secret = try SecretFile(file).withBytes { $0 } } catch { throw error.under(key: place) }
      // A signature of its own, so that the error names the file with the fault.
      _ = try WebhookSignature(secrets: [secret], of: place)
      secrets.append(secret)
    }
    return try WebhookSignature(secrets: secrets, of: "\(place(of: name)).secretFile")
  }

  /// Returns the signed request.
  /// - Parameters:
  ///   - now: The real time.
  ///   - limit: How long the worker waits for the response.
  package func request(
    _ request: HandlerRequest, trace: String?, now: Timestamp, limit: Duration
  ) -> ExchangeRequest {
    let body = request.body(deadline: now + limit, isDryRun: isDryRun)
    var headers: [APIHeaders.Field] = [
      .init(name: "content-type", value: "application/cloudevents+json"),
      .init(name: "accept", value: "application/json"),
      .init(name: "millrace-protocol", value: HandlerRequest.version),
      .init(name: "user-agent", value: "millrace-worker/\(MillraceVersion.current)"),
    ]
    headers += signature.headers(id: request.id, time: now.millisecondsSince1970 / 1_000, body: body).map {
      .init(name: $0.name, value: $0.value)
    }
    if isDryRun { headers.append(.init(name: DryRunJournal.header, value: "1")) }
    if let trace { headers.append(.init(name: "traceparent", value: trace)) }
    return ExchangeRequest(method: .post, url: url, headers: APIHeaders(headers), body: body)
  }

  /// Sends a request, and classifies the response.
  /// - Throws: `CancellationError`.
  package func send(
    _ request: HandlerRequest, trace: String? = nil, now: Timestamp, limit: Duration
  ) async throws(CancellationError) -> EndpointReply {
    try await send(
      self.request(request, trace: trace, now: now, limit: limit), key: request.key, now: now, limit: limit)
  }

  /// Sends a request that is signed already, and classifies the response. If the connection breaks before the answer, the
  /// request is sent once more at once.
  /// - Throws: `CancellationError`.
  package func send(
    _ outgoing: ExchangeRequest, key: String, now: Timestamp, limit: Duration
  ) async throws(CancellationError) -> EndpointReply {
    let response: ExchangeAnswer?
    do {
      response = try await MillraceClock.system.result(within: limit) { [exchange] in
        do {
          return try await exchange.send(outgoing)
        } catch let failure as TransportFailure where failure.progress == .unclear && !failure.isCancellation {
          // Servers close kept connections at any time, also just before a request. Nothing of an answer has arrived, and
          // the webhook-id is the same.
          return try await exchange.send(outgoing)
        }
      }
    } catch let failure as TransportFailure where !failure.isCancellation {
      return EndpointReply(.failed(.unreachable, detail: "\(failure.what) (\(failure.progress.rawValue))"), nil)
    } catch {
      throw CancellationError()
    }
    guard let response else {
      return EndpointReply(.failed(.timeout, detail: "no answer within \(DurationText.text(limit))"), nil)
    }
    return EndpointReply(EndpointAnswer.of(response, key: key, now: now), response)
  }
}

/// The answer of an endpoint, and the response if there was one.
package struct EndpointReply: Sendable {
  /// The meaning.
  package var answer: EndpointAnswer
  /// The response.
  package var response: ExchangeAnswer?

  /// The facts of the response for the log.
  package var facts: CallAnswer? {
    guard let response else { return nil }
    var facts = CallAnswer(status: response.status)
    if response.status >= 300 {
      facts.problemType = EndpointAnswer.problem("type", of: response)
      facts.problemTitle = EndpointAnswer.problem("title", of: response)
    }
    // The endpoint has written the details of its decisions.
    if case .outcome = answer { facts.detailIsForeign = true }
    return facts
  }

  /// The failure, for the log of the circuit; nil if the endpoint decided.
  package var cause: String? {
    switch answer {
    case .failed(_, let detail): detail
    case .misconfigured(let status): "answered \(status)"
    default: nil
    }
  }

  init(_ answer: EndpointAnswer, _ response: ExchangeAnswer?) {
    self.answer = answer
    self.response = response
  }
}
