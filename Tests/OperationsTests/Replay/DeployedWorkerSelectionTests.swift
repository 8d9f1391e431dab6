import MillraceCore
import MillraceRecords
import Operations
import Testing

/// The topics of `millrace replay --worker`.
@Suite struct DeployedWorkerSelectionTests {
  private static let worker = DeployedWorker(
    name: "grants", process: "millrace-worker",
    inputs: ["t-appstore.notifications.purchases", "t-appstore.notifications.subscriptions"])

  private func completed(_ topics: [String], from: Int64? = nil, of worker: DeployedWorker = worker) throws -> [String]
  {
    var selection = RecordSelection()
    (selection.topics, selection.from) = (topics, from)
    try worker.complete(&selection)
    return selection.topics
  }

  @Test func `without a topic it is all topics of the worker, unless offsets are selected`() throws {
    #expect(try completed([]) == Self.worker.inputs)
    #expect(try completed([], from: 3) == [])
    #expect(try completed([], of: DeployedWorker(foreign: "own")) == [])
  }

  @Test func `a family that the worker does not read is refused, a topic of copies is not`() throws {
    let purchases = "t-appstore.notifications.purchases"
    #expect(try completed([purchases, "copies"]) == [purchases, "copies"])
    let error = try #require(throws: OperationError.self) {
      try completed([purchases, "t-appstore.notifications.refunds"])
    }
    #expect("\(error)".contains("grants does not read t-appstore.notifications.refunds"))
    #expect("\(error)".contains(purchases))
    #expect(
      try completed(["t-appstore.notifications.refunds"], of: DeployedWorker(foreign: "own"))
        == ["t-appstore.notifications.refunds"])
  }
}
