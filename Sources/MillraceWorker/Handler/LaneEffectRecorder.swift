// Connects one handler run to its lane: records named effects in the lane's ledger and grants waits.

internal import MillraceTime
internal import KafkaClient
internal import Synchronization

/// The effects that one handler run has begun, and its waits.
final class LaneEffectRecorder: EffectRecorder {
  private struct State {
    var open: Set<String> = []
    var waits = 0
    var isClosed = false
  }

  private let lane: LaneRunner
  /// The number of the run's ``LaneJob``.
  let jobNumber: UInt64
  private let state = Mutex(State())

  init(lane: LaneRunner, jobNumber: UInt64) {
    self.lane = lane
    self.jobNumber = jobNumber
  }

  func begin(_ name: String, body: [UInt8]) async throws -> EffectProgress {
    switch await lane.begin(name, body: body, for: self) {
    case .intended(let intent): return .intended(intent)
    case .ended(let result): return .ended(result)
    case .busy: throw EffectBusy(name: name)
    case .gone: throw CancellationError()
    }
  }

  func end(_ name: String, result: [UInt8]) async throws {
    guard await lane.end(name, result: result, for: self) else { throw CancellationError() }
  }

  func withdraw(_ name: String) async {
    await lane.withdraw(name, for: self)
  }

  func state(_ name: String) async throws -> [UInt8]? {
    try await lane.state(name, for: self)
  }

  func status(of name: String) async -> EffectStatus? { await lane.status(of: name) }

  func beginWaiting() async -> Bool { await lane.beginWaiting(self) }
  func endWaiting() async { await lane.endWaiting(self) }

  /// Changes the number of waits. A run may wait in several calls at once.
  /// - Returns: The new number.
  func countWait(_ change: Int) -> Int {
    state.withLock { state in
      state.waits += change
      return state.waits
    }
  }

  /// Records that the lane has begun an effect for this run.
  func note(_ name: String) { state.withLock { _ = $0.open.insert(name) } }

  /// Ends an effect.
  /// - Returns: False if the run is over or has not begun the effect. The effect then belongs to a later run.
  func settle(_ name: String) -> Bool { state.withLock { $0.open.remove(name) != nil } }

  /// Whether the run is over. An abandoned handler cannot begin an effect.
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Ends the run.
  /// - Returns: The effects that were begun but not ended; their results are unknown.
  func close() -> Set<String> {
    state.withLock { state in
      defer { state = State(isClosed: true) }
      return state.open
    }
  }
}

/// Another run is still performing the effect.
struct EffectBusy: Error, CustomStringConvertible {
  var name: String

  var description: String { "another run is still performing the effect \(name)" }
}
