// Handlers for tests of the runtime, and a record of their runs and effects.

import AppStore
import MillraceTime
import KafkaClient
import Synchronization

@testable import MillraceWorker

/// The runs and effects of handlers in all processes. It outlives the processes.
final class Book: Sendable {
  private struct State {
    var runs: [String: Int] = [:]
    var order: [String] = []
    var calls: [String: Set<[UInt8]>] = [:]
    var running = 0
    var mostRunning = 0
  }

  private let state = Mutex(State())

  func began(_ id: String) {
    state.withLock { state in
      state.runs[id, default: 0] += 1
      state.order.append(id)
      state.running += 1
      state.mostRunning = max(state.mostRunning, state.running)
    }
  }

  func ended() { state.withLock { $0.running -= 1 } }

  /// Receives an effect, and deduplicates it by body.
  func call(_ name: String, _ body: [UInt8]) { state.withLock { _ = $0.calls[name, default: []].insert(body) } }

  /// The number of runs by notification.
  var runs: [String: Int] { state.withLock { $0.runs } }
  /// The notifications, in the order in which their handlers started.
  var order: [String] { state.withLock { $0.order } }
  /// The request bodies of each effect.
  var calls: [String: Set<[UInt8]>] { state.withLock { $0.calls } }
  var mostRunning: Int { state.withLock { $0.mostRunning } }
}

/// A handler that calls a closure.
struct FleetHandler: LaneHandling {
  let book: Book
  let body: @Sendable (LaneItem, any EffectRecorder) async throws -> Outcome
  /// Runs when a timer fires.
  var fired: @Sendable (FiredTimer, any EffectRecorder) async throws -> Outcome = { _, _ in .ignore }

  init(_ book: Book, _ body: @escaping @Sendable (LaneItem, any EffectRecorder) async throws -> Outcome = Self.answer) {
    self.book = book
    self.body = body
  }

  func run(_ item: LaneItem, recorder: any EffectRecorder) async -> HandlerResult {
    book.began(item.id)
    defer { book.ended() }
    return await result { try await body(item, recorder) }
  }

  func run(_ timer: FiredTimer, recorder: any EffectRecorder) async -> HandlerResult {
    book.began(timer.name)
    defer { book.ended() }
    return await result { try await fired(timer, recorder) }
  }

  private func result(of run: () async throws -> Outcome) async -> HandlerResult {
    do {
      return .decided(try await run())
    } catch let turn as Turn {
      return .failed(.wait(until: turn.until), reason: "waits-for-apple", detail: "")
    } catch {
      return .failed(FailureDisposition.of(error), reason: "handler-error", detail: "\(error)")
    }
  }

  @Sendable static func answer(_ item: LaneItem, _ recorder: any EffectRecorder) async throws -> Outcome {
    try .emit(Answer(id: item.id))
  }

  struct Answer: WorkerEvent {
    static let eventName = "answer"
    var id: String
  }

  /// Causes an effect in a receiver that deduplicates. The body is random, unless an earlier intent has one.
  static func cause(_ name: String, _ recorder: any EffectRecorder, in book: Book) async throws {
    var generator = SystemRandomNumberGenerator()
    let body = withUnsafeBytes(of: generator.next()) { Array($0) }
    guard case .intended(let intent) = try await recorder.begin(name, body: body) else { return }
    book.call(name, intent.body)
    try await recorder.end(name, result: [1])
  }
}

/// A failure of a test's handler that may be temporary.
struct HandlerFailed: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}

/// A call that has to wait for its rate-limit slot.
struct Turn: Error {
  var until: Timestamp
}
