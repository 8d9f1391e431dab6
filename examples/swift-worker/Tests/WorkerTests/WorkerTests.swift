import Foundation
import Testing

@testable import Worker

@Suite struct WorkerTests {
  static let left = "2026-01-06T03:22:02.114Z"
  static let state = State(left: left, product: "premium")

  private func request(state: State? = nil) -> HandlerRequest { HandlerRequest(key: "2000000100000918", state: state) }

  private func notification(
    _ type: String, _ subtype: String? = nil, signed: String = left, state: State? = nil, version: Int = 2
  ) -> HandlerRequest {
    var request = request(state: state)
    request.notification = .init(
      version: version, type: type, subtype: subtype, signedDate: signed, receivedAt: signed,
      transaction: .init(productId: "premium"))
    return request
  }

  private func result(_ statuses: [Int], state: State? = state) -> HandlerRequest {
    var request = request(state: state)
    let group = HandlerRequest.Statuses.Group(lastTransactions: statuses.map { .init(status: $0) })
    request.call = .init(result: .init(status: "succeeded", body: .init(data: [group])))
    return request
  }

  @Test func `a cancelled subscription sets a timer for three days later`() throws {
    let timer = Outcome.Timer(name: "offer", at: .value("2026-01-09T03:22:02.114Z"))
    #expect(try decide(notification("EXPIRED", "VOLUNTARY")) == Outcome(state: .value(Self.state), timers: [timer]))
  }

  @Test(arguments: ["DID_RENEW", "SUBSCRIBED"]) func `a return cancels the timer`(type: String) throws {
    let returned = notification(type, signed: "2026-01-07T00:00:00Z", state: Self.state)
    #expect(try decide(returned) == Outcome(state: .null, timers: [.init(name: "offer", at: .null)]))
  }

  @Test func `everything else changes nothing`() throws {
    let requests = [
      notification("EXPIRED", "BILLING_RETRY"), notification("DID_RENEW"),
      notification("DID_RENEW", signed: "2026-01-05T00:00:00Z", state: Self.state),
      notification("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", state: Self.state),
      notification("DID_RENEW", signed: "2026-01-07T00:00:00Z", state: Self.state, version: 1),
      request(), result([2], state: nil),
    ]
    for (number, request) in requests.enumerated() { #expect(try decide(request) == nil, "\(number)") }
  }

  @Test func `the timer asks Apple`() throws {
    let call = Outcome.Call(
      name: "status/\(Self.left)", operation: "getAllSubscriptionStatuses",
      arguments: ["transactionId": "2000000100000918"])
    #expect(try decide(request(state: Self.state)) == Outcome(calls: [call]))
  }

  @Test func `an expired subscription gets an offer`() throws {
    let event = Outcome.Event(name: "winback.offered", data: .init(product: "premium"))
    #expect(try decide(result([2, 5])) == Outcome(state: .null, events: [event]))
  }

  @Test(arguments: [1, 4]) func `an active subscription gets none`(status: Int) throws {
    #expect(try decide(result([2, status])) == Outcome(state: .null))
  }

  @Test func `a refused call is a dead letter`() throws {
    var refused = request(state: Self.state)
    refused.call = .init(result: .init(status: "failed", message: "Transaction id not found."))
    let letter = Outcome.DeadLetter(reason: "apple-refused", detail: "Transaction id not found.")
    #expect(try decide(refused) == Outcome(deadLetter: letter))
  }

  @Test func `null is written, and nothing else that is absent`() throws {
    let outcome = Outcome(state: .null, timers: [.init(name: "offer", at: .null)])
    let json = String(decoding: try JSONEncoder().encode(outcome), as: UTF8.self)
    #expect(json.contains(#""state":null"#) && json.contains(#""at":null"#) && !json.contains("calls"))
  }
}
