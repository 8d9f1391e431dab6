// Fuzzes the payload of a token, as if it had been signed: JSON and its typed views.
internal import AppStore

/// Property: encoding and decoding again returns the same value, and every property of the views can be read.
struct PayloadTarget: FuzzTarget {
  func run(_ input: UnsafeRawBufferPointer) {
    let object: JSONObject
    do {
      object = try JSONObject(parsing: input)
    } catch {
      return
    }
    let written = object.serialized()
    do {
      let again = try JSONObject(parsing: written)
      if again != object { Failure.report("the encoded payload decodes to another value") }
    } catch {
      Failure.report("the encoded payload cannot be decoded: \(error)")
    }
    let notification = ResponseBodyV2DecodedPayload(json: object)
    _ = (notification.environment, notification.bundleId, notification.appAppleId, notification.oddFields)
    _ = (notification.signedDate?.rfc3339, notification.notificationType, notification.subtype)
    _ = JWSTransactionDecodedPayload(json: object).oddFields
    _ = JWSRenewalInfoDecodedPayload(json: object).oddFields
    _ = AppTransaction(json: object).oddFields
  }
}
