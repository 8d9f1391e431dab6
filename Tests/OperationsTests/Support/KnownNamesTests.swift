// Compares the lists of names that the configuration checks with the places that define the names.

import Foundation
import MillraceCore
import MillraceRecords
import TestEnvironment
import Testing

@testable import Operations
@testable import Subscriptions

@Suite struct KnownNamesTests {
  @Test func `the known families are those of the topic files`() throws {
    let catalog = try TopicCatalog.load(MillraceConfiguration())
    #expect(TopicSelection.families(of: catalog) == KnownNames.families)
    #expect(Set(KnownNames.families) == Set(NotificationFamily.all.map(\.rawValue)))
  }

  @Test func `the known events are those of the schemas and of the subscriptions worker`() throws {
    let suffix = ".schema.json"
    let schemas = try FileManager.default.contentsOfDirectory(atPath: Project.path("topics/schemas"))
      .filter { $0.hasSuffix(suffix) }.map { String($0.dropLast(suffix.count)) }
    for (worker, events) in KnownNames.events where worker != "subscriptions" && worker != "decoder" {
      // The events of the consumption worker begin with its name; the files of the others have it before the event's.
      let described = schemas.filter { $0.hasPrefix("\(worker).") }
        .map { worker == "consumption" ? $0 : String($0.dropFirst(worker.count + 1)) }
      #expect(events.sorted() == described.sorted(), "\(worker)")
    }
    let own =
      PurchaseEvent.allCases.map { PurchaseEvent.prefix + $0.rawValue }
      + SubscriptionEvent.allCases.map { SubscriptionEvent.prefix + $0.rawValue }
    #expect(KnownNames.events["subscriptions"]?.sorted() == own.sorted())
  }

  @Test(arguments: [("refund", "did you mean refunds?"), ("mailer", "choose one of consumption, refunds")])
  func `a worker that is not configured is refused with the nearest name`(name: String, remedy: String) throws {
    let configuration = try LoadedConfiguration.load(text: "workers: {refunds: {}, consumption: {}}").configuration
    try configuration.check(worker: "refunds")
    let error = #expect(throws: OperationError.self) { try configuration.check(worker: name) }
    #expect(error?.kind == .usage && error?.place == "--worker" && error?.remedy == remedy)
    #expect(throws: OperationError.self) { try MillraceConfiguration().check(worker: "refunds") }
  }
}
