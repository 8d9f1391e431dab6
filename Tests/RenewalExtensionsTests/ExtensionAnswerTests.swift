import AppStore
import Testing

@testable import AppStoreServerAPI
@testable import MillraceWorker
@testable import RenewalExtensions

@Suite struct ExtensionAnswerTests {
  private static let call = APICall(
    endpoint: .extendSubscriptionRenewalDate, environment: .production, path: ["inApps", "v1", "subscriptions"])

  private static func refusal(
    _ code: APIErrorCode, isUnclear: Bool = false
  ) -> APIError {
    var error = APIError(call, .refused, code.errorClass, isUnclear: isUnclear)
    error.code = code
    error.message = "as Apple says"
    return error
  }

  @Test(arguments: [
    (APIErrorCode.subscriptionExtensionIneligible, ExtensionAnswer.Reason.ineligible),
    (.subscriptionMaxExtension, .maxExtensions), (.familySharedSubscriptionExtensionIneligible, .familyShared),
    (.familyTransactionNotSupported, .familyShared), (.originalTransactionIdNotFound, .notFound),
    (.transactionIdNotFound, .notFound), (.transactionIdNotOriginalTransactionId, .rejected),
    (.invalidExtendByDays, .rejected),
  ])
  func `a permanent refusal is an answer with Apple's code`(code: APIErrorCode, reason: ExtensionAnswer.Reason) {
    let answer = ExtensionAnswer(Self.refusal(code))
    #expect(answer == .refused(.init(reason, code: Int64(code.rawValue), message: "as Apple says")))
  }

  @Test(arguments: [
    APIErrorCode.generalInternal, .generalInternalRetryable, .originalTransactionIdNotFoundRetryable,
    .accountNotFoundRetryable, .rateLimitExceeded, .appNotFound,
  ])
  func `a temporary or correctable refusal is not an answer`(code: APIErrorCode) {
    #expect(ExtensionAnswer(Self.refusal(code)) == nil)
  }

  @Test func `an error that is not from Apple is not an answer`() {
    let kinds: [(APIError.Kind, ErrorClass, Bool)] = [
      (.budget, .retryLater, false), (.rateLimited, .retryLater, false), (.deadline, .retryNow, true),
      (.transport(TransportFailure("reset", .unclear)), .retryNow, true), (.cancelled, .retryNow, true),
      (.undecodable("its body is truncated"), .retryNow, true), (.refused, .retryLater, true),
      // A bare 400 may be a gateway's, and a violation means an invalid campaign.
      (.refused, .never, false), (.violation([]), .never, false),
    ]
    for (kind, errorClass, isUnclear) in kinds {
      let error = APIError(Self.call, kind, errorClass, isUnclear: isUnclear)
      #expect(ExtensionAnswer(error) == nil, "\(kind)")
    }
    #expect(ExtensionAnswer(Self.refusal(.subscriptionMaxExtension, isUnclear: true)) == nil)
  }

  @Test func `a budget and a 429 wait, a broken connection retries, an invalid request is a dead letter`() {
    let turn = Timestamp(millisecondsSince1970: 1)
    #expect(FailureDisposition.of(APIError(Self.call, .budget, .retryLater, retryAt: turn)) == .wait(until: turn))
    #expect(FailureDisposition.of(APIError(Self.call, .rateLimited, .retryLater, retryAt: turn)) == .wait(until: turn))
    let broken = APIError(Self.call, .transport(TransportFailure("reset", .unclear)), .retryNow, isUnclear: true)
    #expect(FailureDisposition.of(broken) == .retryBySchedule)
    #expect(FailureDisposition.of(APIError(Self.call, .violation([]), .never)) == .deadLetter(reason: "apple-refused"))
  }

  @Test func `a response with success false is a refusal`() {
    var response = ExtendRenewalDateResponse()
    response.success = true
    response.effectiveDate = Campaign.origin
    #expect(ExtensionAnswer(response) == .applied(effectiveDate: Campaign.origin))
    response.success = false
    #expect(ExtensionAnswer(response) == .refused(.init(.unsuccessful, code: nil, message: nil)))
  }

  @Test(arguments: [
    ExtensionAnswer.applied(effectiveDate: Campaign.origin), .applied(effectiveDate: nil),
    .refused(.init(.maxExtensions, code: 4_030_005, message: "no")),
    .refused(.init(.unsuccessful, code: nil, message: nil)),
    .unclear("why"),
  ])
  func `the ledger returns a stored answer unchanged`(answer: ExtensionAnswer) {
    #expect(ExtensionAnswer(answer.bytes) == answer)
  }

  @Test(arguments: ["", "{}", "applied", #"{"answer":"later"}"#])
  func `malformed ledger data is not an answer`(text: String) {
    #expect(ExtensionAnswer(Array(text.utf8)) == nil)
  }
}
