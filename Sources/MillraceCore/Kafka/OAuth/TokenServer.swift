// Asks a server for a token or for credentials: one request on a connection of its own, because minutes pass between two.

internal import AppStore
internal import AppStoreServerAPI
internal import MillraceTime

/// A server that issues tokens or credentials.
struct TokenServer: Sendable {
  /// Its URL, for errors, which mask its user information and its query.
  var url: String
  /// The key to correct if it does not answer.
  var key: String
  var tls = TLSFiles()

  private static let timeLimit = Duration.seconds(10)
  private static let maxBodyBytes = 256 << 10
  /// The part of an answer that an error shows.
  private static let shownBytes = 200

  /// Sends a request and returns the body of the answer 200.
  /// - Throws: ``MillraceError`` that names the URL.
  func ask(_ request: ExchangeRequest) async throws -> [UInt8] {
    let exchange: AsyncHTTPExchange
    do throws(TransportFailure) {
      var configuration = AsyncHTTPExchange.Configuration()
      configuration.connectTimeout = Self.timeLimit
      configuration.maxBodyBytes = Self.maxBodyBytes
      configuration.tls = tls
      exchange = try .using(files: configuration)
    } catch {
      throw MillraceError(
        .configuration, error.what, at: "kafka.oauth.caFile", remedy: "name a PEM file of certificates")
    }
    let result: Result<ExchangeAnswer?, any Error>
    do {
      result = .success(
        try await MillraceClock.system.result(within: Self.timeLimit) { try await exchange.send(request) })
    } catch {
      result = .failure(error)
    }
    try? await exchange.shutdown()
    return try read(result)
  }

  private func read(_ result: Result<ExchangeAnswer?, any Error>) throws -> [UInt8] {
    switch result {
    case .success(let answer?) where answer.status == 200 && answer.isComplete: return answer.body
    case .success(let answer?): throw unavailable("answered \(answer.status)\(Self.reason(answer.body))")
    case .success(nil): throw unavailable("did not answer within \(DurationText.text(Self.timeLimit))")
    case .failure(let failure as TransportFailure): throw unavailable("did not answer: \(failure.what)")
    case .failure(let error): throw error
    }
  }

  /// The error code of an OAuth server (RFC 6749, section 5.2) or of AWS's token service. The rest of a body may repeat the
  /// request.
  private static func reason(_ body: [UInt8]) -> String {
    let object = try? JSONObject(parsing: body)
    let named: String? = if case .string(let code)? = object?["error"] { code } else { nil }
    guard let code = named ?? element("Code", of: String(decoding: body, as: UTF8.self)) else { return "" }
    let plain = code.utf8.prefix(shownBytes).filter { (0x20..<0x7F).contains($0) }
    return " (\(String(decoding: plain, as: UTF8.self)))"
  }

  /// The text of the first XML element with this name. The elements that are read have no entities.
  static func element(_ name: String, of xml: String) -> String? {
    guard let start = xml.firstRange(of: "<\(name)>"),
      let end = xml[start.upperBound...].firstRange(of: "</\(name)>")
    else { return nil }
    let text = xml[start.upperBound..<end.lowerBound]
    return text.isEmpty ? nil : String(text)
  }

  /// An error that blames the server.
  func unavailable(_ what: String) -> MillraceError {
    MillraceError(
      .unavailable, "the server \(what)", at: URLMask.text(url),
      remedy: "check \(key), and that this process can reach the server")
  }
}
