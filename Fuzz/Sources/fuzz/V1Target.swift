// A version 1 body as posted: JSON, the secret found and cut out, the views over rows and receipts.
internal import AppStore

/// Property: no secret is left in the bytes that may be stored, and they say what was posted otherwise.
struct V1Target: FuzzTarget {
  func run(_ input: UnsafeRawBufferPointer) {
    let envelope: ResponseBodyV1.Envelope
    do {
      envelope = try ResponseBodyV1.Envelope(parsing: input)
    } catch {
      return
    }
    do {
      let again = try ResponseBodyV1.Envelope(parsing: envelope.bytes)
      if !again.passwords.isEmpty { Failure.report("a password is left in the bytes to store") }
      if again.body != envelope.body { Failure.report("cutting the password out changed something else") }
      if again.bytes != envelope.bytes { Failure.report("cutting twice is not the same as cutting once") }
    } catch {
      Failure.report("cutting the password out broke the JSON: \(error)")
    }
    let body = envelope.body
    _ = (body.bundleId, body.appStoreEnvironment, body.notification_type, body.oddFields)
    _ = body.orderingKey
  }
}
