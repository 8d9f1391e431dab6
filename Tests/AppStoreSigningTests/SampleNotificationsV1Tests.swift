// Version 1 samples: all types, the place of the secret, and the ordering key at the top.
import AppStore
import AppStoreSigning
import Testing

@Suite("Sample notifications, version 1")
struct SampleNotificationsV1Tests {
  private let date = Timestamp(millisecondsSince1970: 1_767_225_600_000)

  @Test("every type has a body with the password and the ordering key", arguments: NotificationTypeV1.allKnown)
  func body(type: NotificationTypeV1) throws {
    var samples = SampleNotificationsV1(password: "0123456789abcdef", seed: 3)
    let (body, key) = samples.next(type, at: date)
    let json = try JSONObject(parsing: body)
    #expect(json["notification_type"] == .string(type.rawValue))
    #expect(json["password"] == .string("0123456789abcdef"))
    #expect(json["original_transaction_id"] == .string(key))
    #expect(json["environment"] == .string("PROD"))
    #expect(json["bid"] == .string("com.example.app"))
  }

  @Test("without a password the member is absent")
  func withoutPassword() throws {
    var samples = SampleNotificationsV1(password: nil, seed: 3)
    #expect(try JSONObject(parsing: samples.next(.cancel, at: date).body)["password"] == nil)
  }
}
