// The rules between keys, checked on the values alone. Each problem names the key to change.

internal import AppStore
internal import KafkaClient

extension MillraceConfiguration {
  /// Returns the rules between keys that the configuration violates; `source` returns where a key's value came from.
  func brokenRelations(source: (String) -> ConfigurationSource) -> [MillraceError.Problem] {
    func problem(_ what: String, _ key: String, _ remedy: String) -> MillraceError.Problem {
      .init(what, at: "\(key) (\(source(key)))", remedy: remedy)
    }
    return brokenAppRelations(problem) + brokenWorkerRelations(problem) + brokenKafkaRelations(problem)
      + brokenIngressRelations(problem) + brokenConsoleRelations(problem) + brokenPostgresRelations(problem)
      + brokenClockRelations(problem) + brokenAlertRelations(problem)
  }

  private typealias Describe = (_ what: String, _ key: String, _ remedy: String) -> MillraceError.Problem

  private func brokenAppRelations(_ problem: Describe) -> [MillraceError.Problem] {
    var problems: [MillraceError.Problem] = []
    var seen: Set<String> = []
    for (index, app) in apps.enumerated() {
      let name = "apps[\(index)]"
      if app.bundleId.isEmpty {
        problems.append(problem("the app has no bundleId", "\(name).bundleId", "set the app's bundle identifier"))
      } else if !seen.insert(app.bundleId).inserted {
        problems.append(
          problem("two apps have the bundleId \(app.bundleId)", "\(name).bundleId", "merge the two entries"))
      }
      if app.environments.isEmpty {
        problems.append(
          problem("the app has no environments", "\(name).environments", "list Production, Sandbox or both"))
      }
      if app.environments.contains(.production), app.appAppleId == nil {
        problems.append(
          problem(
            "Production needs the app's Apple ID", "\(name).appAppleId",
            "set it (App Store Connect, App Information), or remove Production from environments"))
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
    for (name, worker) in workers.sorted(by: { $0.key < $1.key }) {
      if let delays = worker.retryDelays, delays.isEmpty || zip(delays, delays.dropFirst()).contains(where: >=) {
        problems.append(
          problem(
            "the retry delays do not ascend", "workers.\(name).retryDelays",
            "list at least one delay, each longer than the one before"))
      }
      problems += brokenHandlerRelations(name, worker, problem)
    }
    return problems
  }

  private func brokenKafkaRelations(_ problem: Describe) -> [MillraceError.Problem] {
    var problems: [MillraceError.Problem] = []
    let names = kafka.properties.merging(kafka.propertyFiles) { value, _ in value }
    if let objection = KafkaConfiguration(bootstrapServers: kafka.bootstrapServers, properties: names).objection {
      problems.append(problem(objection, "kafka.properties", "remove the property"))
    }
    for (key, properties) in [("properties", kafka.properties), ("propertyFiles", kafka.propertyFiles)] {
      for name in properties.keys.sorted() where !KafkaPropertyNames.isKnown(name) {
        problems.append(
          problem(
            "librdkafka has no property `\(name)`", "kafka.\(key)",
            NearestName.of(name, among: KafkaPropertyNames.all).map { "did you mean \($0)?" } ?? "remove it"))
      }
    }
    for name in kafka.propertyFiles.keys.sorted() where kafka.properties[name] != nil {
      problems.append(
        problem("`\(name)` is also set in kafka.properties", "kafka.propertyFiles", "keep one of them"))
    }
    for name in ["message.timeout.ms", "delivery.timeout.ms"] {
      guard let text = kafka.properties[name] else { continue }
      guard let milliseconds = Int64(text), (1...Int64(Int32.max)).contains(milliseconds) else {
        problems.append(
          problem(
            "`\(name)` must be a number of milliseconds, at least 1", "kafka.properties",
            "correct it, or remove it: ingress.deadline limits requests without it"))
        continue
      }
    }
    if kafka.isEmbedded, kafka.commit == .transactional {
      problems.append(
        problem(
          "the embedded cluster has no transactions", "kafka.commit", "unset it, or use a real cluster"))
    }
    for fault in kafka.oauth.faults {
      problems.append(problem(fault.what, "kafka.oauth.\(fault.key)", fault.remedy))
    }
    if kafka.oauth.method != nil {
      for name in names.keys.sorted() where name.hasPrefix("sasl.") {
        problems.append(problem("`\(name)` is also set by kafka.oauth", "kafka.properties", "remove one of them"))
      }
      if let text = kafka.properties["security.protocol"], !text.lowercased().hasPrefix("sasl_") {
        problems.append(
          problem(
            "tokens need SASL, and security.protocol is \(text)", "kafka.properties", "set sasl_ssl, or remove it"))
      }
      if let objection = KafkaToken.objection(to: kafka.oauth.extensions) {
        problems.append(problem(objection, "kafka.oauth.extensions", "correct it"))
      }
      if kafka.isEmbedded {
        problems.append(
          problem("the embedded cluster has no authentication", "kafka.oauth.method", "unset it, or use a real cluster")
        )
      }
    }
    return problems
  }

  private func brokenIngressRelations(_ problem: Describe) -> [MillraceError.Problem] {
    var problems: [MillraceError.Problem] = []
    if (ingress.tls.certificate == nil) != (ingress.tls.key == nil) {
      let missing = ingress.tls.key == nil ? "key" : "certificate"
      problems.append(
        problem(
          "TLS needs a certificate and a key", "ingress.tls.\(missing)", "set it, or unset the other for plain HTTP"))
    }
    if ingress.bodyTimeout > ingress.deadline {
      problems.append(
        problem("bodyTimeout is longer than ingress.deadline", "ingress.bodyTimeout", "lower it below the deadline")
      )
    }
    if ingress.port != 0, ingress.port == admin.port {
      problems.append(problem("ingress and admin have the same port", "admin.port", "change one of them"))
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
          "limits cannot be divided while \(key) is Apple's", "appStore.limitDivisor",
          "remove it, or point appStore.productionURL and appStore.sandboxURL at a simulator")
      ]
    }
    return [
      problem(
        "the clock does not run in real time, but \(key) is Apple's", "clock.\(clock.rate == 1 ? "origin" : "rate")",
        "remove `clock`, or point appStore.productionURL and appStore.sandboxURL at a simulator")
    ]
  }

  /// Returns a URL's authority: the part between its scheme and its path.
  package static func authority(of url: String) -> Substring {
    url.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first ?? ""
  }

  /// Whether a URL's host is Apple's.
  private static func isApple(_ url: String) -> Bool {
    let afterUser = authority(of: url).split(separator: "@").last ?? ""
    let host = (afterUser.split(separator: ":").first ?? "").lowercased()
    return host == "apple.com" || host.hasSuffix(".apple.com") || host.hasSuffix(".apple.com.")
  }
}
