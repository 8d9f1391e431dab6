import AppStore
import TestEnvironment
import Testing

struct APIErrorCodeTests {
  @Test(.enabled(if: SharedMaterial.isPresent, "needs the list of Apple's error codes next to the checkout"))
  func everyCodeOfTheListIsThereWithItsNameAndStatus() throws {
    var listed: Set<APIErrorCode> = []
    var withoutNumber: [String] = []
    for entry in try list() {
      let name = entry["name"].flatMap(String.init(jsonValue:))
      guard let code = entry["code"].flatMap(APIErrorCode.init(jsonValue:)) else {
        withoutNumber.append(name ?? "?")
        continue
      }
      listed.insert(code)
      #expect(code.isKnown, "\(code)")
      #expect(code.name == name, "\(code)")
      #expect(code.httpStatus == entry["httpStatus"].flatMap(Int.init(jsonValue:)), "\(code)")
      #expect(code.meaning?.isEmpty == false, "\(code)")
    }
    #expect(Set(APIErrorCode.allKnown) == listed)
    #expect(listed.count == 87 && withoutNumber.count == 5)
    // A code that Apple documents without a number has none here either.
    #expect(Set(APIErrorCode.allKnown.compactMap(\.name)).isDisjoint(with: withoutNumber))
  }

  @Test(.enabled(if: SharedMaterial.isPresent, "needs the list of Apple's error codes next to the checkout"))
  func whatAppleDocumentsAsRetryableIsRetriedAndLittleElse() throws {
    // Apple does not list these as retryable. But internal errors are known to pass, and the status of a test
    // notification is not available at once.
    let ours: Set<APIErrorCode> = [.generalInternal, .testNotificationNotFound]
    for entry in try list() {
      guard let code = entry["code"].flatMap(APIErrorCode.init(jsonValue:)) else { continue }
      let retryable = entry["retryable"].flatMap(Bool.init(jsonValue:)) ?? false
      let retried = code.errorClass == .retryNow || code.errorClass == .retryLater
      #expect(retried == (retryable || ours.contains(code)), "\(code)")
    }
  }

  @Test(arguments: [
    (APIErrorCode.generalInternalRetryable, ErrorClass.retryNow), (.accountNotFoundRetryable, .retryNow),
    (.appNotFoundRetryable, .retryNow), (.originalTransactionIdNotFoundRetryable, .retryLater),
    (.rateLimitExceeded, .retryLater), (.generalInternal, .retryLater), (.testNotificationNotFound, .retryLater),
    (.invalidAppIdentifier, .configuration), (.appNotFound, .configuration),
    (.serverNotificationUrlNotFound, .configuration), (.messageNotApproved, .configuration),
    (.transactionIdNotFound, .never), (.subscriptionMaxExtension, .never), (.subscriptionExtensionIneligible, .never),
    (.appTransactionDoesNotExist, .never), (.paginationTokenExpired, .never),
  ])
  func eachCodeHasTheClassThatAnOperatorNeeds(code: APIErrorCode, errorClass: ErrorClass) {
    #expect(code.errorClass == errorClass)
  }

  @Test(arguments: [
    (Int64(4_000_999), ErrorClass.never), (4_010_001, .configuration), (4_030_999, .never), (4_040_999, .never),
    (4_080_000, .retryNow), (4_290_001, .retryLater), (5_000_099, .retryLater), (5_030_000, .retryLater),
    (5_040_000, .retryNow), (7, .never), (-1, .never), (.max, .never), (.min, .never),
  ])
  func anUnknownCodeIsClassifiedByTheStatusItBeginsWith(rawValue: Int64, errorClass: ErrorClass) {
    let code = APIErrorCode(rawValue: rawValue)
    #expect(!code.isKnown && code.name == nil && code.meaning == nil)
    #expect(code.errorClass == errorClass)
  }

  @Test(arguments: [
    (400, ErrorClass.never), (401, .configuration), (403, .configuration), (404, .never), (408, .retryNow),
    (413, .never), (429, .retryLater), (500, .retryLater), (502, .retryNow), (503, .retryLater), (504, .retryNow),
    (599, .retryLater), (302, .never), (200, .never),
  ])
  func anAnswerWithoutACodeIsClassifiedByItsStatus(httpStatus: Int, errorClass: ErrorClass) {
    #expect(ErrorClass(httpStatus: httpStatus) == errorClass)
  }

  @Test func theStatusIsWhatTheCodeBeginsWith() {
    #expect(APIErrorCode.transactionIdNotFound.httpStatus == 404)
    #expect(APIErrorCode(rawValue: 4_040_010) == .transactionIdNotFound)
    #expect(APIErrorCode(rawValue: 99).httpStatus == nil)
    #expect(APIErrorCode(rawValue: 60_000_000).httpStatus == nil)
  }

  private func list() throws -> [JSONObject] {
    guard case .array(let entries) = try SharedMaterial.json("app-store-facts/error-codes.json")["errors"] else {
      return []
    }
    return entries.compactMap { if case .object(let entry) = $0 { entry } else { nil } }
  }
}
