// From settings to providers.

internal import AppStoreServerAPI
internal import Logging
internal import Millrace

extension ProviderChain {
  /// The providers of the configuration, in its order.
  /// - Throws: `MillraceError` that names the key to mend; what keeps a topic from being read.
  init(_ setup: WorkerSetup) async throws {
    let settings = setup.configuration.consumption
    var providers: [any ConsumptionProvider] = []
    for kind in settings.providers {
      switch kind {
      case .http: providers.append(try HTTPProvider(settings.http, setup))
      case .topic:
        let index = try setup.index(ConsumptionSettings.answersTopic)
        // A topic that is missing is found at start, and not with the first question.
        let keys = try await index.refresh()
        setup.logger.info("answers in the topic", metadata: ["keys": "\(keys)"])
        providers.append(TopicProvider(index))
      case .rules: providers.append(RulesProvider(setup.configuration.consumptionRules))
      }
    }
    guard !providers.isEmpty else {
      throw MillraceError(
        .configuration, "nobody to ask what was consumed", at: "consumption.providers",
        remedy: "list at least one of http, topic and rules; see docs/consumption.md")
    }
    self.init(providers)
  }
}

extension HTTPProvider {
  fileprivate init(_ settings: ConsumptionSettings.HTTP, _ setup: WorkerSetup) throws {
    let limit = setup.configuration.policy(of: setup.name, standard: ConsumptionWorker.policy).handlerTimeout
    // A run that is over its own limit decides nothing: no warning would be set.
    guard settings.timeout < limit else {
      throw MillraceError(
        .configuration, "an answer may take longer than the run that waits for it", at: "consumption.http.timeout",
        remedy: "lower it, or raise handlerTimeout in workers[] for \(setup.name)")
    }
    try self.init(
      url: settings.url ?? "", secrets: try settings.secrets(), timeout: settings.timeout, exchange: setup.http,
      clock: setup.clock)
  }
}
