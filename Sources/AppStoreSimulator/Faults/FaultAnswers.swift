// The responses of faults.

internal import AppStore

extension FaultEffect {
  /// The response that replaces the endpoint's; nil if the effect has none.
  func answer(now: Timestamp) -> APIAnswer? {
    switch self {
    case .failure(let status, .empty): .empty(status)
    case .failure(let status, .html): .html(status)
    case .failure(let status, .json(let code, let message)):
      APIAnswer(
        status: status, headers: [.json], body: APIFailure(code, message).body,
        failure: APIFailure(code, message))
    case .tooManyRequests(let retryAfter):
      .failure(
        .rateLimitExceeded, headers: [retryAfter.value(now: now).map(APIAnswer.Header.retryAfter)].compactMap { $0 })
    case .unauthorized: .unauthenticated
    case .latency, .connectionReset, .truncatedBody, .answerLost: nil
    }
  }
}

extension FaultEffect.RetryAfterForm {
  /// The value of the `Retry-After` header.
  func value(now: Timestamp) -> String? {
    switch self {
    case .milliseconds(let wait): String((now + wait).millisecondsSince1970)
    case .seconds(let seconds): String(seconds)
    case .date(let wait): (now + wait).httpDate
    case .absent: nil
    }
  }

  /// The time that the header states; nil if there is no header.
  func moment(now: Timestamp) -> Timestamp? {
    switch self {
    case .milliseconds(let wait), .date(let wait): now + wait
    case .seconds(let seconds): now + .seconds(seconds)
    case .absent: nil
    }
  }
}

extension APIAnswer.Header {
  static func retryAfter(_ value: String) -> APIAnswer.Header { APIAnswer.Header(name: "Retry-After", value: value) }
}

extension Timestamp {
  /// The HTTP date (RFC 9110, section 5.6.7), to the second: `Sun, 06 Nov 1994 08:49:37 GMT`.
  var httpDate: String {
    let names = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    // 1 January 1970 was a Thursday.
    let day = (millisecondsSince1970 / 86_400_000) % 7
    let text = Array(rfc3339.utf8)
    func part(_ range: Range<Int>) -> String { String(decoding: text[range], as: UTF8.self) }
    guard text.count >= 19, let month = Int(part(5..<7)), months.indices.contains(month - 1),
      names.indices.contains(Int(day))
    else { return rfc3339 }
    return "\(names[Int(day)]), \(part(8..<10)) \(months[month - 1]) \(part(0..<4)) \(part(11..<19)) GMT"
  }
}
