// Codable values as the content of effects, states and timers. The functions with bytes are the level below.

public import AppStore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The encoding of a value that the ledger stores: JSON with members sorted by name. Dates are numbers, so they lose
/// nothing.
enum StoredValue {
  static func bytes(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(value))
  }

  /// - Parameter place: What the bytes belong to, for the error.
  /// - Throws: ``HandlerError`` with reason `stored-value` if the bytes do not decode.
  static func value<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8], of place: String) throws -> Value {
    do {
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch {
      throw HandlerError(
        "stored-value",
        """
        \(place) has \(bytes.count) bytes that do not decode as \(type): \(error). Another version of the worker \
        stored them; make the type read them
        """)
    }
  }
}

extension HandlerContext {
  /// Performs an action that cannot be undone, once, with a value to send and a value as the result.
  ///
  /// Like ``once(_:body:perform:)``: if the result of an earlier attempt is unknown, `perform` receives the value *of
  /// that attempt*. Both values are stored as JSON.
  ///
  /// - Parameters:
  ///   - name: The permanent name of the effect, at most 256 bytes.
  ///   - value: The value to send, at most 256 KiB as JSON.
  ///   - perform: Sends the value that it receives and returns the part of the response to keep, at most 256 KiB as
  ///     JSON.
  /// - Returns: The result of `perform`, from this attempt or an earlier one.
  /// - Throws: The errors of ``once(_:body:perform:)``; ``HandlerError`` with reason `stored-value` if the value of
  ///   an earlier attempt does not decode; `EncodingError` for a value that JSON cannot represent.
  public func once<Value: Codable, Result: Codable>(
    _ name: String, sending value: Value, perform: (Value, EffectIntent) async throws -> Result
  ) async throws -> Result {
    let result = try await once(name, body: try StoredValue.bytes(value)) { intent in
      let value: Value
      do {
        value = try StoredValue.value(Value.self, from: intent.body, of: "the intent of the effect \(name)")
      } catch {
        throw NothingWasDone(error)
      }
      let result = try await perform(value, intent)
      do {
        return try StoredValue.bytes(result)
      } catch {
        // The effect is done. Record that, so that its result does not cause a second attempt.
        try await recorder.end(name, result: [])
        throw HandlerError("effect-result", "\(name) was done, but JSON cannot represent its result: \(error)")
      }
    }
    guard !result.isEmpty else {
      throw HandlerError("effect-result", "\(name) was done, but its result could not be kept")
    }
    return try StoredValue.value(Result.self, from: result, of: "the result of the effect \(name)")
  }

  /// Returns the value that an earlier outcome stored under this name, or nil if there is none. See ``state(_:)``.
  /// - Throws: ``HandlerError`` with reason `stored-value` if the state does not decode; `CancellationError` if the
  ///   worker no longer owns the lane.
  public func state<Value: Decodable>(_ name: String, as type: Value.Type) async throws -> Value? {
    guard let bytes = try await state(name) else { return nil }
    return try StoredValue.value(type, from: bytes, of: "the state \(name)")
  }
}

extension Outcome.Results {
  /// Returns results with a state. The value is stored as JSON; nil removes the state.
  /// - Throws: `EncodingError` for a value that JSON cannot represent.
  public static func keeping<Value: Encodable>(
    _ name: String, encoding value: Value?, row: OutputRecord? = nil
  ) throws -> Self {
    try Self().keeping(name, encoding: value, row: row)
  }

  /// Returns a copy that also stores a state. The value is stored as JSON, at most 64 KiB with the name; nil removes the
  /// state.
  /// - Parameter row: A record with the same content for other readers. List its topic in
  ///   ``NotificationWorker/outputTopics``. Its key is the state's name or what follows the name's last slash. Otherwise
  ///   the row stays when the customer is erased.
  /// - Throws: `EncodingError` for a value that JSON cannot represent.
  public func keeping<Value: Encodable>(
    _ name: String, encoding value: Value?, row: OutputRecord? = nil
  ) throws -> Self {
    keeping(name, try value.map { try StoredValue.bytes($0) }, row: row)
  }
}

extension Outcome {
  /// Returns a copy that also sets a timer. The payload is stored as JSON, at most 256 KiB with the name.
  /// - Throws: `EncodingError` for a value that JSON cannot represent.
  public func settingTimer(_ name: String, at time: Timestamp, encoding payload: some Encodable) throws -> Outcome {
    settingTimer(name, at: time, payload: try StoredValue.bytes(payload))
  }
}

extension FiredTimer {
  /// Returns the value that was given when the timer was set.
  /// - Throws: ``HandlerError`` with reason `stored-value` if the payload does not decode; the timer then fires
  ///   again by the retry schedule.
  public func payload<Value: Decodable>(as type: Value.Type) throws -> Value {
    try StoredValue.value(type, from: payload, of: "the payload of the timer \(name)")
  }
}

extension EffectStatus {
  /// Returns the result of an effect that has completed, or nil while its result is unknown.
  /// - Throws: ``HandlerError`` with reason `stored-value` if the result does not decode.
  public func result<Value: Decodable>(as type: Value.Type) throws -> Value? {
    guard case .ended(let bytes) = self else { return nil }
    return try StoredValue.value(type, from: bytes, of: "the result of the effect")
  }
}
