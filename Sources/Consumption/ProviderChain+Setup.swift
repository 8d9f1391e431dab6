// Creates the providers from the configuration.

internal import AppStoreServerAPI
internal import Logging
internal import MillraceCore
internal import MillraceWorker

extension ProviderChain {
  /// Creates the configured providers, in order.
  /// - Throws: `MillraceError` that names the key to correct; an error that prevents reading a topic.
  init(_ setup: WorkerSetup) async throws {
    let settings: ConsumptionSettings = try setup.settings()
    var providers: [any ConsumptionProvider] = []
    for kind in settings.providers {
      switch kind {
      case .http: providers.append(try HTTPProvider(settings.http, setup))
      case .topic:
        let index = try setup.index(ConsumptionSettings.answersTopic)
        // Detects a missing topic at start, not with the first question.
        let keys = try await index.refresh()
        setup.logger.info("loaded answers from the topic", metadata: ["keys": "\(keys)"])
        providers.append(TopicProvider(index))
      case .rules: providers.append(RulesProvider(settings.rules))
      }
    }
    guard !providers.isEmpty else {
      throw MillraceError(
        .configuration, "no consumption providers are configured", at: "workers.\(setup.name).settings.providers",
        remedy: "list at least one of http, topic and rules; see docs/consumption.md")
    }
    self.init(providers)
  }
}

extension HTTPProvider {
  fileprivate init(_ settings: ConsumptionSettings.HTTP, _ setup: WorkerSetup) throws {
    let limit = setup.configuration.policy(of: setup.name, standard: ConsumptionWorker.policy).handlerTimeout
    // If the run exceeds its own time limit, it cannot set the timer of the warning.
    guard settings.timeout < limit else {
      throw MillraceError(
        .configuration, "the timeout is not below the handlerTimeout of \(setup.name)",
        at: "workers.\(setup.name).settings.http.timeout", remedy: "lower it, or raise handlerTimeout of \(setup.name)")
    }
    try self.init(
      url: settings.url ?? "", secrets: try settings.secrets(), timeout: settings.timeout, exchange: setup.http,
      clock: setup.clock)
  }
}
