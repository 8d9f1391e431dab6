// Fuzzes a version 1 body: JSON, finding and removing the secret, and the views of rows and receipts.
internal import AppStore

/// Property: the password search agrees with the parser. The bytes to store contain no secret, and otherwise equal the
/// posted body.
struct V1Target: FuzzTarget {
  func run(_ input: UnsafeRawBufferPointer) {
    let passwords = Result { () throws(JSONError) in try ResponseBodyV1.Envelope.passwords(in: input) }
    let envelope: ResponseBodyV1.Envelope
    do {
      envelope = try ResponseBodyV1.Envelope(parsing: input)
    } catch {
      if case .failure(error) = passwords { return }
      Failure.report("the password search does not fail as the parser does: \(error)")
      return
    }
    switch passwords {
    case .success(let found):
      if found.count != envelope.passwords.count { Failure.report("search and parser find different passwords") }
    case .failure(let error): Failure.report("the password search fails, but the parser does not: \(error)")
    }
    do {
      let again = try ResponseBodyV1.Envelope(parsing: envelope.bytes)
      if !again.passwords.isEmpty { Failure.report("the bytes to store contain a password") }
      if again.body != envelope.body { Failure.report("removing the password changed other members") }
      if again.bytes != envelope.bytes { Failure.report("removing the password twice changed the bytes again") }
    } catch {
      Failure.report("removing the password broke the JSON: \(error)")
    }
    let body = envelope.body
    _ = (body.bundleId, body.appStoreEnvironment, body.notification_type, body.oddFields)
    _ = body.orderingKey
  }
}
