// Checks whether the HTTP servers of the configuration answer: endpoints, receivers, the provider of consumption data,
// the schema registry. The request has no body and no signature, so no server acts on it.

package import AppStoreServerAPI
internal import Forward
internal import HTTPWorkers
internal import MillraceCore
internal import MillraceTime

/// An HTTP server that a worker needs.
package struct EndpointAddress: Sendable, Hashable {
  /// The section of the configuration that names it.
  package var place: String
  /// The URL.
  package var url: String
  /// The certificates of the connection.
  package var tls: TLSFiles

  /// Creates an address.
  package init(_ place: String, url: String, tls: TLSFiles = TLSFiles()) {
    (self.place, self.url, self.tls) = (place, url, tls)
  }

  /// The endpoints of HTTP workers, webhooks and receivers.
  static func all(_ configuration: MillraceConfiguration) throws(MillraceError) -> [EndpointAddress] {
    var all: [EndpointAddress] = []
    for name in configuration.workerNames {
      if Forwarder.runs(as: name) {
        let receiver: ForwardSettings = try configuration.settings(of: name)
        if let url = receiver.url { all.append(EndpointAddress("workers.\(name).settings", url: url)) }
      } else if let handler = try configuration.endpoint(of: name), let url = handler.url {
        let tls = TLSFiles(
          authority: handler.certificateAuthorityFile, certificate: handler.certificateFile, key: handler.keyFile)
        let place = WebhookWorker.runs(as: name) ? "settings" : "handler"
        all.append(EndpointAddress("workers.\(name).\(place)", url: url, tls: tls))
      }
    }
    return all
  }

  /// Asks the server for its URL.
  func finding(timeout: Duration) async -> DoctorFinding {
    var connections = AsyncHTTPExchange.Configuration()
    connections.connectTimeout = timeout
    connections.cutsOffBodies = true
    connections.tls = tls
    do {
      let exchange = try AsyncHTTPExchange.using(files: connections)
      let answer = await status(by: exchange, timeout)
      try await exchange.shutdown()
      return finding(answer, timeout)
    } catch {
      return failure(error.what)
    }
  }

  private func status(by exchange: AsyncHTTPExchange, _ timeout: Duration) async -> Result<Int, TransportFailure>? {
    let request = ExchangeRequest(method: .get, url: url)
    do {
      return try await MillraceClock.system.result(within: timeout) {
        .success(try await exchange.send(request).status)
      }
    } catch {
      let failure = error as? TransportFailure
      return .failure(failure ?? TransportFailure("cancelled", .unclear, isCancellation: true))
    }
  }

  /// - Parameter answer: The status; nil if there was none in time.
  func finding(_ answer: Result<Int, TransportFailure>?, _ timeout: Duration) -> DoctorFinding {
    switch answer {
    case nil: failure("no answer within \(DurationText.text(timeout))")
    case .failure(let error): failure("no answer: \(error.what)")
    case .success(410): failure("answered 410: the receiver is gone")
    // 501: it implements no GET.
    case .success(let status) where status >= 500 && status != 501: failure("answered \(status)")
    // A server may refuse a request without a signature or a body.
    case .success(let status): DoctorFinding(.endpoints, .good, "answers (\(status))", of: place)
    }
  }

  private func failure(_ what: String) -> DoctorFinding {
    DoctorFinding(
      .endpoints, .failure, what, of: place,
      remedy: "start the server at \(URLMask.text(url)), or correct its URL; workers retry meanwhile")
  }
}
