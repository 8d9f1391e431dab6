// What stands inside a token, as if it had been signed: JSON and the typed views over it.
internal import AppStore

/// Property: writing out what was read and reading it again gives the same, and every view can be asked everything.
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
      if again != object { Failure.report("reading what was written gives something else") }
    } catch {
      Failure.report("what was written cannot be read: \(error)")
    }
    let notification = ResponseBodyV2DecodedPayload(json: object)
    _ = (notification.environment, notification.bundleId, notification.appAppleId, notification.oddFields)
    _ = (notification.signedDate?.rfc3339, notification.notificationType, notification.subtype)
    _ = JWSTransactionDecodedPayload(json: object).oddFields
    _ = JWSRenewalInfoDecodedPayload(json: object).oddFields
    _ = AppTransaction(json: object).oddFields
  }
}
