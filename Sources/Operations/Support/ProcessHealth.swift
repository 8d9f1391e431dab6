// `millrace health`: whether the process beside us is well, for whoever has neither a shell nor curl.

public import AppStoreServerAPI
public import Millrace

/// Asks the admin port of a process of this machine.
public struct ProcessHealth: Sendable {
  /// What is asked.
  public enum Question: String, Sendable, CaseIterable {
    /// Whether the process turns.
    case livez
    /// Whether it can do its work.
    case readyz
  }

  /// What came back.
  public struct Answer: Sendable, Hashable {
    /// Whether all is well.
    public var isHealthy: Bool
    /// The report of the process, a line of JSON.
    public var report: String
  }

  private let exchange: any HTTPExchange
  private let origin: String

  /// Asks where `settings` has the admin port; at an address that means every address, on this machine.
  public init(_ settings: AdminSettings, exchange: any HTTPExchange) {
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

  /// Asks once.
  /// - Throws: ``OperationError`` where nobody answers.
  public func ask(_ question: Question) async throws(OperationError) -> Answer {
    let url = "\(origin)/\(question.rawValue)"
    do {
      let answer = try await exchange.send(ExchangeRequest(method: .get, url: url))
      let report = String(decoding: answer.body, as: UTF8.self).split(separator: "\n").first ?? ""
      return Answer(isHealthy: answer.status == 200, report: String(report))
    } catch {
      throw OperationError(
        .failed, "no answer: \(error.what)", at: url, remedy: "see whether the process runs, and with this admin.port")
    }
  }
}
