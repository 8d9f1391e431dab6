import AppStoreServerAPI
import MillraceCore
import Synchronization
import Testing

@testable import Operations

/// Returns a fixed answer and records the requests.
private final class FakeAdmin: HTTPExchange {
  let asked = Mutex<[String]>([])
  private let answer: Result<ExchangeAnswer, TransportFailure>

  init(_ answer: Result<ExchangeAnswer, TransportFailure>) { self.answer = answer }

  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    asked.withLock { $0.append(request.url) }
    return try answer.get()
  }
}

@Suite struct ProcessHealthTests {
  @Test(arguments: [
    ("0.0.0.0", "http://127.0.0.1:9090"), ("", "http://127.0.0.1:9090"), ("::", "http://[::1]:9090"),
    ("10.0.0.7", "http://10.0.0.7:9090"), ("fe80::1", "http://[fe80::1]:9090"),
  ])
  func `it asks the local address on which the process listens`(host: String, origin: String) async throws {
    let admin = FakeAdmin(.success(ExchangeAnswer(status: 200, body: Array("{\"status\":\"alive\"}\n".utf8))))
    var settings = AdminSettings()
    settings.host = host
    let answer = try await ProcessHealth(settings, exchange: admin).ask(.livez)
    #expect(answer == ProcessHealth.Answer(isHealthy: true, report: #"{"status":"alive"}"#))
    #expect(admin.asked.withLock { $0 } == ["\(origin)/livez"])
  }

  @Test func `a process that is not ready is unhealthy, and its report contains the reason`() async throws {
    let admin = FakeAdmin(.success(ExchangeAnswer(status: 503, body: Array(#"{"status":"not ready"}"#.utf8))))
    let answer = try await ProcessHealth(AdminSettings(), exchange: admin).ask(.readyz)
    #expect(!answer.isHealthy)
    #expect(answer.report == #"{"status":"not ready"}"#)
  }

  @Test func `the error names the address if nothing responds`() async throws {
    let admin = FakeAdmin(.failure(TransportFailure("connection refused", .notSent)))
    let error = await #expect(throws: OperationError.self) {
      try await ProcessHealth(AdminSettings(), exchange: admin).ask(.livez)
    }
    #expect(error?.description.hasPrefix("http://127.0.0.1:9090/livez: no answer: connection refused") == true)
  }
}
