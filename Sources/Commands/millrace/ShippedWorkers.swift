// The workers that ship with Millrace, and the programs that run them.

import Consumption
import Decoder
import Forward
import HTTPWorkers
import MillraceCore
import MillraceWorker
import Operations
import Refunds
import RenewalExtensions
import Subscriptions

enum ShippedWorkers {
  /// A program and a type of worker that it runs.
  typealias Member = (program: String, type: any NotificationWorker.Type)

  /// All types.
  static let all: [Member] = [
    ("millrace-subscriptions", SubscriptionsWorker.self), ("millrace-refunds", RefundsWorker.self),
    ("millrace-renewal-extensions", RenewalExtensionsWorker.self), ("millrace-consumption", ConsumptionWorker.self),
    ("millrace-decoder", DecoderWorker.self), ("millrace-forward", Forwarder.self),
    ("millrace-worker", HTTPWorker.self), ("millrace-worker", WebhookWorker.self),
  ]

  /// Their settings, which are checked, printed and documented.
  static let forms = [
    SubscriptionsWorker.settingsForm, RefundsWorker.settingsForm, RenewalExtensionsWorker.settingsForm,
    ConsumptionWorker.settingsForm, DecoderWorker.settingsForm,
    Forwarder.settingsForm(named: "forward-<receiver>"), HTTPWorker.settingsForm,
    WebhookWorker.settingsForm(named: "webhook-<name>"),
  ]

  /// Returns the types of the named workers. Types with several workers throw if there is none.
  static func members(running names: [String], in configuration: MillraceConfiguration) -> [Member] {
    all.filter { member in names.contains { runs(member, as: $0, in: configuration) } }
  }

  /// Returns the program that runs a worker; nil if the worker does not ship with Millrace.
  static func program(of name: String, in configuration: MillraceConfiguration) -> String? {
    all.first { runs($0, as: name, in: configuration) }?.program
  }

  private static func runs(_ member: Member, as name: String, in configuration: MillraceConfiguration) -> Bool {
    guard member.type == HTTPWorker.self else { return member.type.runs(as: name) }
    return configuration.workers[name]?.isHTTPWorker ?? false
  }
}

extension DeployedWorker {
  /// The workers with an entry in the configuration.
  static func all(in configuration: MillraceConfiguration) throws -> [DeployedWorker] {
    var found: [DeployedWorker] = []
    for (program, type) in ShippedWorkers.members(running: configuration.workerNames, in: configuration) {
      found += try DeployedWorker.of(type, process: program, in: configuration)
    }
    let foreign = configuration.workerNames.filter { name in !found.contains { $0.name == name } }
    return found + foreign.map { DeployedWorker(foreign: $0) }
  }
}
