// Implements `millrace health`: checks the process in the same container, where neither a shell nor curl is available.

package import AppStoreServerAPI
package import MillraceCore

/// Queries the admin port of a process on this machine.
package struct ProcessHealth: Sendable {
  /// The endpoint to query.
  package enum Question: String, Sendable, CaseIterable {
    /// Whether the process is alive.
    case livez
    /// Whether the process can do its work.
    case readyz
  }

  /// The response.
  package struct Answer: Sendable, Hashable {
    /// Whether the process is healthy.
    package var isHealthy: Bool
    /// The report of the process, as one line of JSON.
    package var report: String
  }

  private let exchange: any HTTPExchange
  private let origin: String

  /// Uses the address of the admin port in `settings`, or this machine if that is a wildcard address.
  package init(_ settings: AdminSettings, exchange: any HTTPExchange) {
    self.exchange = exchange
    let host =
      switch settings.host {
      case "", "0.0.0.0": "127.0.0.1"
      case "::": "[::1]"
      case let host where host.contains(":"): "[\(host)]"
      case let host: host
      }
    origin = "http://\(host):\(settings.port)"
  }

  /// Sends one request.
  /// - Throws: ``OperationError`` if there is no response.
  package func ask(_ question: Question) async throws(OperationError) -> Answer {
    let url = "\(origin)/\(question.rawValue)"
    do {
      let answer = try await exchange.send(ExchangeRequest(method: .get, url: url))
      let report = String(decoding: answer.body, as: UTF8.self).split(separator: "\n").first ?? ""
      return Answer(isHealthy: answer.status == 200, report: String(report))
    } catch {
      throw OperationError(
        .failed, "no answer: \(error.what)", at: url,
        remedy: "check that the process is running, and with this admin.port")
    }
  }
}
