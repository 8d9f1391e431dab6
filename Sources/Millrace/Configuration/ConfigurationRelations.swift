// What must hold between keys, decided from the values alone. Each broken relation names the key to change.

internal import AppStore
internal import Kafka

extension MillraceConfiguration {
  /// The relations that do not hold; `source` says where a key's value came from.
  func brokenRelations(source: (String) -> ConfigurationSource) -> [MillraceError.Problem] {
    func problem(_ what: String, _ key: String, _ remedy: String) -> MillraceError.Problem {
      .init(what, at: "\(key) (\(source(key)))", remedy: remedy)
    }
    return brokenAppRelations(problem) + brokenWorkerRelations(problem) + brokenKafkaRelations(problem)
      + brokenForwardRelations(problem) + brokenConsumptionRelations(problem) + brokenIngressRelations(problem)
      + brokenConsoleRelations(problem) + brokenClockRelations(problem)
  }

  private typealias Describe = (_ what: String, _ key: String, _ remedy: String) -> MillraceError.Problem

  private func brokenAppRelations(_ problem: Describe) -> [MillraceError.Problem] {
    var problems: [MillraceError.Problem] = []
    var seen: Set<String> = []
    for (index, app) in apps.enumerated() {
      let name = "apps[\(index)]"
      if app.bundleId.isEmpty {
        problems.append(problem("an app without bundleId", "\(name).bundleId", "name the app's bundle identifier"))
      } else if !seen.insert(app.bundleId).inserted {
        problems.append(
          problem("two apps have the bundleId \(app.bundleId)", "\(name).bundleId", "make them one entry"))
      }
      if app.environments.isEmpty {
        problems.append(
          problem("an app without environments", "\(name).environments", "list Production, Sandbox or both"))
      }
      if app.environments.contains(.production), app.appAppleId == nil {
        problems.append(
          problem(
            "Production needs the app's Apple ID", "\(name).appAppleId",
            "set it (App Store Connect, App Information), or leave Production out of environments"))
      }
      if !app.api.isComplete, !app.api.isEmpty {
        problems.append(
          problem(
            "API credentials are incomplete", "\(name).api", "set issuerId, keyId and privateKeyFile, or none"))
      }
    }
    return problems
  }

  private func brokenWorkerRelations(_ problem: Describe) -> [MillraceError.Problem] {
    var problems: [MillraceError.Problem] = []
    var seen: Set<String> = []
    for (index, worker) in workers.enumerated() {
      let key = "workers[\(index)]"
      if let name = worker.name {
        if !seen.insert(name).inserted {
          problems.append(problem("two entries for the worker \(name)", "\(key).name", "make them one entry"))
        }
      } else {
        problems.append(problem("an entry without name", "\(key).name", "name the worker it is for"))
      }
      if let delays = worker.retryDelays, delays.isEmpty || zip(delays, delays.dropFirst()).contains(where: >=) {
        problems.append(
          problem("retry delays that do not ascend", "\(key).retryDelays", "list at least one, each longer than before")
        )
      }
    }
    return problems
  }

  private func brokenKafkaRelations(_ problem: Describe) -> [MillraceError.Problem] {
    var problems: [MillraceError.Problem] = []
    let names = kafka.properties.merging(kafka.propertyFiles) { value, _ in value }
    if let objection = KafkaConfiguration(bootstrapServers: kafka.bootstrapServers, properties: names).objection {
      problems.append(problem(objection, "kafka.properties", "remove the property"))
    }
    for name in kafka.propertyFiles.keys.sorted() where kafka.properties[name] != nil {
      problems.append(
        problem("`\(name)` stands in kafka.properties too", "kafka.propertyFiles", "keep one of them"))
    }
    for name in ["message.timeout.ms", "delivery.timeout.ms"] {
      guard let text = kafka.properties[name] else { continue }
      guard let milliseconds = Int64(text), milliseconds > 0, milliseconds < ingress.deadline.wholeMilliseconds else {
        problems.append(
          problem(
            "`\(name)` must be a number below ingress.deadline (\(ingress.deadline.wholeMilliseconds)): "
              + "a record must have failed before its request is answered 503", "kafka.properties",
            "lower it, or raise ingress.deadline"))
        continue
      }
    }
    if kafka.isEmbedded, kafka.commit == .transactional {
      problems.append(
        problem(
          "the embedded cluster has no transactions", "kafka.commit", "unset it, or name a real cluster"))
    }
    return problems
  }

  private func brokenIngressRelations(_ problem: Describe) -> [MillraceError.Problem] {
    var problems: [MillraceError.Problem] = []
    if (ingress.tls.certificate == nil) != (ingress.tls.key == nil) {
      let missing = ingress.tls.key == nil ? "key" : "certificate"
      problems.append(
        problem("TLS needs both files", "ingress.tls.\(missing)", "set it, or unset the other for plain HTTP"))
    }
    if ingress.bodyTimeout > ingress.deadline {
      problems.append(
        problem("the body may take longer than the whole request", "ingress.bodyTimeout", "lower it below the deadline")
      )
    }
    if ingress.port != 0, ingress.port == admin.port {
      problems.append(problem("ingress and admin share a port", "admin.port", "give one of them another"))
    }
    return problems
  }

  private func brokenClockRelations(_ problem: Describe) -> [MillraceError.Problem] {
    guard !clock.isReal || appStore.limitDivisor != 1 else { return [] }
    let urls = [("appStore.productionURL", appStore.productionURL), ("appStore.sandboxURL", appStore.sandboxURL)]
    guard let (key, _) = urls.first(where: { Self.isApple($0.1) }) else { return [] }
    guard !clock.isReal else {
      return [
        problem(
          "Apple's limits are not divided, and \(key) is Apple's", "appStore.limitDivisor",
          "remove it, or point appStore.productionURL and appStore.sandboxURL at a simulator")
      ]
    }
    return [
      problem(
        "time runs differently from Apple's, but \(key) is Apple's", "clock.\(clock.rate == 1 ? "origin" : "rate")",
        "remove `clock`, or point appStore.productionURL and appStore.sandboxURL at a simulator")
    ]
  }

  /// What stands between a URL's scheme and its path.
  static func authority(of url: String) -> Substring {
    url.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first ?? ""
  }

  /// Whether a URL's host is Apple's.
  private static func isApple(_ url: String) -> Bool {
    let afterUser = authority(of: url).split(separator: "@").last ?? ""
    let host = (afterUser.split(separator: ":").first ?? "").lowercased()
    return host == "apple.com" || host.hasSuffix(".apple.com") || host.hasSuffix(".apple.com.")
  }
}
