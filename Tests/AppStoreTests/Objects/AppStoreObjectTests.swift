import AppStore
import Foundation
import Testing

struct AppStoreObjectTests {
  private let text =
    #"{"notificationType":"DID_WONDER","future":{"a":[1.0]},"data":{"status":9,"bundleId":"b","x":null}}"#

  @Test func everythingUnknownSurvivesByteForByte() throws {
    let payload = try ResponseBodyV2DecodedPayload(parsing: Array(text.utf8))
    #expect(payload.notificationType?.isKnown == false)
    #expect(payload.notificationType?.rawValue == "DID_WONDER")
    #expect(payload.data?.status == Status(rawValue: 9))
    #expect(payload.oddFields.isEmpty)
    #expect(String(decoding: payload.serialized(), as: UTF8.self) == text)
  }

  @Test func aNestedFieldIsWrittenInPlace() throws {
    var payload = try ResponseBodyV2DecodedPayload(parsing: Array(text.utf8))
    payload.data?.status = .active
    payload.subtype = .upgrade
    payload.notificationType = nil
    #expect(
      String(decoding: payload.serialized(), as: UTF8.self)
        == #"{"future":{"a":[1.0]},"data":{"status":1,"bundleId":"b","x":null},"subtype":"UPGRADE"}"#)
  }

  @Test func anObjectIsBuiltFromNothing() {
    var payload = ResponseBodyV2DecodedPayload()
    payload.notificationType = .test
    payload.data = NotificationData()
    payload.data?.appAppleId = 7
    payload.signedDate = Timestamp(millisecondsSince1970: 5)
    #expect(payload.json == ["notificationType": "TEST", "data": ["appAppleId": 7], "signedDate": 5])
  }

  @Test func oddFieldsAreNamedByTheirPathAndReadAsNil() throws {
    let odd = #"""
      {"environment":1,"quantity":"2","purchaseDate":1.5,"signedDate":null,"advancedCommerceInfo":
      {"items":[{"SKU":"a","refunds":[{"refundAmount":"x"}]},"odd",{"SKU":5}],"descriptors":[]},"commitmentInfo":true}
      """#
    let payload = try JWSTransactionDecodedPayload(parsing: Array(odd.utf8))
    let expected: [OddField] = [
      OddField(path: "quantity", expected: .integer, found: .string),
      OddField(path: "signedDate", expected: .integer, found: .null),
      OddField(path: "environment", expected: .string, found: .integer),
      OddField(path: "advancedCommerceInfo.descriptors", expected: .object, found: .array),
      OddField(path: "advancedCommerceInfo.items[0].refunds[0].refundAmount", expected: .integer, found: .string),
      OddField(path: "advancedCommerceInfo.items[1]", expected: .object, found: .string),
      OddField(path: "advancedCommerceInfo.items[2].SKU", expected: .string, found: .integer),
      OddField(path: "commitmentInfo", expected: .object, found: .boolean),
    ]
    #expect(Set(payload.oddFields) == Set(expected))
    #expect(payload.quantity == nil && payload.environment == nil && payload.commitmentInfo == nil)
    // Xcode writes a fraction, which is not malformed.
    #expect(payload.purchaseDate == Timestamp(millisecondsSince1970: 1))
    #expect(payload.advancedCommerceInfo?.items?.map(\.SKU) == ["a", nil])
    #expect(expected[0].description == "quantity: expected integer, found string")
  }

  @Test(arguments: Model.all)
  func anObjectPassesThroughFoundationWithWhatIsUnknown(model: Model) throws {
    func check<Object: AppStoreObject>(_: Object.Type) throws {
      var object = Object.full
      object.json["never-seen"] = ["a": 1]
      let decoded = try JSONDecoder().decode(Object.self, from: JSONEncoder().encode(object))
      #expect(Set(decoded.json.members) == Set(object.json.members))
    }
    try check(model.type)
  }

  @Test func whatIsNoObjectIsRefused() {
    #expect(throws: JSONError(.notAnObject, at: 0)) { try AppData(parsing: Array("[]".utf8)) }
    #expect(AppData(jsonValue: "x") == nil)
    #expect(throws: JSONError(.unexpectedEnd, at: 1)) { try AppData(parsing: Array("{".utf8)[...]) }
  }

  @Test func anErrorSaysWhatAndWhereAndWhatToDoAndNothingOfTheContent() {
    let error = JSONError(.trailingBytes, at: 17)
    #expect(error.description.contains("after the end") && error.description.contains("byte 17"))
    #expect(error.description.contains("reject"))
  }
}
