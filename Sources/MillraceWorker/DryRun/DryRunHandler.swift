// Runs handlers without effects. A run that asks for an effect or a call without a recorded result ends there.

package import AppStoreServerAPI
internal import KafkaClient
internal import MillraceCore
internal import Synchronization

/// Runs the handlers of a dry run.
struct DryRunHandler: LaneHandling {
  /// The code of a run that asked for an effect or a call.
  static let reason = "would-call"

  private let base: any LaneHandling
  private let journal: DryRunJournal

  init(_ base: any LaneHandling, _ journal: DryRunJournal) {
    (self.base, self.journal) = (base, journal)
  }

  func run(_ item: LaneItem, recorder: any EffectRecorder) async -> HandlerResult {
    let recorder = DryRunRecorder(recorder)
    let result = await DryRunRecorder.$current.withValue(recorder) { await base.run(item, recorder: recorder) }
    return recorder.refused.map(Self.refusal) ?? result
  }

  func run(_ timer: FiredTimer, recorder: any EffectRecorder) async -> HandlerResult {
    let recorder = DryRunRecorder(recorder)
    let result = await DryRunRecorder.$current.withValue(recorder) { await base.run(timer, recorder: recorder) }
    guard let refused = recorder.refused else { return result }
    journal.wouldCall(timer.name)
    return Self.refusal(refused)
  }

  private static func refusal(_ what: String) -> HandlerResult {
    .failed(.deadLetter(reason: reason), reason: reason, detail: "a dry run does not perform \(what)")
  }
}

/// Gives a run the recorded results of effects, and refuses other effects.
final class DryRunRecorder: EffectRecorder {
  /// The recorder of the current run, for requests that do not go through a context.
  @TaskLocal static var current: DryRunRecorder?

  private let base: any EffectRecorder
  private let first = Mutex<String?>(nil)

  init(_ base: any EffectRecorder) { self.base = base }

  /// The first effect or call that the run asked for and that has no recorded result. Its outcome does not count, even
  /// if the handler has caught the error.
  var refused: String? { first.withLock { $0 } }

  func refuse(_ what: String) { first.withLock { $0 = $0 ?? what } }

  func begin(_ name: String, body: [UInt8]) async throws -> EffectProgress {
    if case .ended(let result)? = await base.status(of: name) { return .ended(result) }
    refuse("the effect \(name)")
    throw HandlerError(DryRunHandler.reason, "a dry run does not perform the effect \(name)")
  }

  // No effect begins, so none ends.
  func end(_ name: String, result: [UInt8]) async throws {}
  func withdraw(_ name: String) async {}
  func beginWaiting() async -> Bool { await base.beginWaiting() }
  func endWaiting() async { await base.endWaiting() }
  func state(_ name: String) async throws -> [UInt8]? { try await base.state(name) }
  func status(of name: String) async -> EffectStatus? { await base.status(of: name) }
}

extension DryRunJournal {
  /// The header of a request that must have no effect, and of its answer.
  package static let header = "millrace-dry-run"

  /// Returns an exchange that refuses requests, except those to endpoints that support dry runs.
  package func guarding(_ exchange: any HTTPExchange) -> any HTTPExchange {
    DryRunExchange(base: exchange, journal: self)
  }
}

private struct DryRunExchange: HTTPExchange {
  let base: any HTTPExchange
  let journal: DryRunJournal

  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    if request.headers[DryRunJournal.header] != nil, journal.failure == nil {
      let answer = try await base.send(request)
      if answer.status < 300, answer.headers[DryRunJournal.header] == nil {
        // It may have acted on this request, and must not get another one.
        journal.fail(
          MillraceError(
            .lifecycle, "the endpoint does not confirm the header \(DryRunJournal.header)", at: request.url,
            remedy: "check it with millrace handler check"))
      }
      return answer
    }
    DryRunRecorder.current?.refuse("\(request.method.rawValue) \(request.url.prefix { $0 != "?" })")
    // A cancelled call is not repeated.
    throw TransportFailure("a dry run makes no calls", .notSent, isCancellation: true)
  }
}
