// Refuses the names of workers and reasons that do not exist, so that a typo does not select nothing.

internal import AppStore
package import MillraceCore
internal import MillraceRecords

extension MillraceConfiguration {
  /// Checks the value of `--worker`.
  /// - Throws: ``OperationError`` if the configuration has no such worker.
  package func check(worker name: String) throws(OperationError) {
    guard !workerNames.contains(name) else { return }
    throw OperationError(
      .usage, "the configuration has no worker \(name)", at: "--worker",
      remedy: workerNames.isEmpty
        ? "name the file that lists it under `workers` with --config"
        : NearestName.remedy(for: name, among: workerNames))
  }
}

extension WorkerOperations {
  /// The reasons for which the runtime gives up a record, whatever the worker does.
  static let reasons = [
    "api-not-configured", "apple-refused", "attempts-exhausted", "crashed-the-process", "deadline-missed",
    "effect-body", "effect-name", "effect-result", "event-not-encodable", "headers", "malformed", "name-reserved",
    "outcome-too-large", "stored-value", "tombstone", "too-large-to-delay", "unverified",
  ]

  /// Checks the values of `--reason`. Handlers have reasons of their own, so the dead letters are read as well.
  /// - Throws: ``OperationError`` for a reason that the runtime does not have and no dead letter of the workers has.
  package static func check(reasons: [String], of workers: [WorkerOperations]) async throws {
    let doubtful = reasons.filter { !Self.reasons.contains($0) }
    guard !doubtful.isEmpty else { return }
    var known = Set(Self.reasons)
    for worker in workers { known.formUnion(try await worker.deadLetterGroups().reasons) }
    for reason in doubtful where !known.contains(reason) {
      throw OperationError(
        .usage, "no dead letter has the reason \(reason)", at: "--reason",
        remedy: NearestName.of(reason, among: known.sorted()).map { "did you mean \($0)?" }
          ?? "millrace dead-letters list shows the reasons")
    }
  }
}
