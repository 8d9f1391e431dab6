// Tests a worker with settings of its own in the harness.

import AppStore
import MillraceCore
import MillraceRecords
import MillraceTesting
import MillraceWorker
import Testing

private struct PatientSettings: WorkerSettings {
  var products: [String] = []

  static let table = SettingTable<Self>([
    Setting("products", \.products, .list(of: .nonEmptyText), "The products.")
  ])
}

private struct Patient: NotificationWorker {
  typealias Settings = PatientSettings
  static let name = "patient"
  static let families: Set<NotificationFamily> = [.subscriptions]
  private let settings: PatientSettings

  init(_ setup: WorkerSetup) throws { settings = try setup.settings() }

  func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    settings.products.isEmpty
      ? .ignore : .deadLetter("products", settings.products.joined(separator: " "))
  }
}

@Suite(.timeLimit(.minutes(5))) struct WorkerSettingsHarnessTests {
  private func detail(_ setup: WorkerHarness.Setup) async throws -> String? {
    let (details, told) = AsyncStream.makeStream(of: String?.self)
    try await WorkerHarness.run(Patient.self, setup) { harness in
      try await harness.receive(.didRenew)
      told.yield(try await harness.deadLetters().first?.detail)
    }
    return await details.first { _ in true } ?? nil
  }

  @Test func `a worker has the settings of the configuration, or those of the test`() async throws {
    var setup = WorkerHarness.Setup()
    #expect(try await detail(setup) == nil)
    setup.configuration = try LoadedConfiguration.load(
      text: "workers: {patient: {settings: {products: [a, b]}}}"
    ).configuration
    #expect(try await detail(setup) == "a b")
    var settings = PatientSettings()
    settings.products = ["c"]
    setup.settings = settings
    #expect(try await detail(setup) == "c")
  }

  @Test func `a worker whose settings are wrong does not start`() async throws {
    var setup = WorkerHarness.Setup()
    setup.configuration = try LoadedConfiguration.load(
      text: "workers: {patient: {settings: {product: a}}}"
    ).configuration
    let error = await #expect(throws: MillraceError.self) { _ = try await detail(setup) }
    #expect(error?.description.contains("did you mean `workers.patient.settings.products`?") == true)
  }
}
