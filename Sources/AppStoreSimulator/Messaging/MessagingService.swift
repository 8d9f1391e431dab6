// The retention messaging of all apps, guarded by one lock.

internal import AppStore
internal import AppStoreSigning
internal import Synchronization

/// Stores the uploads and settings of all apps.
final class MessagingService: Sendable {
  private struct Key: Hashable, Sendable {
    var bundleId: String
    var environment: AppStoreEnvironment
  }

  private struct State {
    var catalogues: [Key: MessageCatalogue] = [:]
    var setups: [String: RealtimeSetup] = [:]
    var generator: SeededGenerator
  }

  let settings: MessagingSettings
  private let state: Mutex<State>

  init(_ settings: MessagingSettings, seed: UInt64) {
    self.settings = settings
    state = Mutex(State(generator: SeededGenerator(seed: seed ^ 0x6D65_7373)))
  }

  /// Reads or changes the uploads of the caller's app in its environment.
  func withCatalogue<Result: Sendable>(
    of call: SimulatedCall, _ body: (inout MessageCatalogue) throws(APIFailure) -> Result
  ) throws(APIFailure) -> Result {
    let delay = call.environment == .sandbox ? .zero : settings.reviewDelay
    let key = Key(bundleId: call.bundleId, environment: call.environment)
    return try state.withLock { state throws(APIFailure) in
      try body(
        &state.catalogues[key, default: MessageCatalogue(reviewDelay: delay, capacity: settings.capacity)])
    }
  }

  /// Reads or changes the caller's real-time endpoint. `body` also receives an identifier for a new performance test.
  func withSetup<Result: Sendable>(
    of call: SimulatedCall, _ body: (inout RealtimeSetup, CompactUUID) throws(APIFailure) -> Result
  ) throws(APIFailure) -> Result {
    try state.withLock { state throws(APIFailure) in
      let id = CompactUUID(using: &state.generator)
      return try body(&state.setups[call.bundleId, default: RealtimeSetup(settings)], id)
    }
  }
}
