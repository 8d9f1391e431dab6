// What can be said of a configuration without asking anybody: its files are there, and it is what a production should have.

internal import AppStore
internal import AppStoreServerAPI
internal import AppStoreSignature
internal import Clocks
internal import Millrace

/// Looks at a configuration and the files it names.
enum ConfigurationChecks {
  /// What is wrong with a configuration that cannot be loaded.
  static func findings(of error: MillraceError) -> [DoctorFinding] {
    error.problems.map {
      DoctorFinding(.configuration, .configuration, $0.what, of: $0.place, remedy: $0.remedy)
    }
  }

  /// What it says.
  static func findings(_ configuration: MillraceConfiguration) -> [DoctorFinding] {
    var findings: [DoctorFinding] = []
    func warn(_ key: String, _ what: String, _ remedy: String) {
      findings.append(DoctorFinding(.configuration, .warning, what, of: key, remedy: remedy))
    }
    if configuration.apps.isEmpty {
      warn("apps", "no app is configured: every notification is answered 503", "add your apps")
    }
    for (index, app) in configuration.apps.enumerated() where !app.api.isComplete {
      warn(
        "apps[\(index)].api",
        "\(app.bundleId) has no key for the App Store Server API: no backfill, and no worker that asks",
        "set issuerId, keyId and privateKeyFile (App Store Connect, Users and Access, Integrations)")
    }
    if !configuration.trust.roots.isEmpty {
      warn("trust.roots", "other roots than Apple's are trusted", "leave it out in production")
    }
    if !configuration.clock.isReal {
      warn("clock", "time is compressed, for a rehearsal", "leave it out in production")
    }
    for (key, url, apples) in [
      ("appStore.productionURL", configuration.appStore.productionURL, AppStoreSettings.appleProductionURL),
      ("appStore.sandboxURL", configuration.appStore.sandboxURL, AppStoreSettings.appleSandboxURL),
    ] where url != apples {
      warn(key, "\(url) is asked, not Apple", "leave it out in production")
    }
    if configuration.kafka.durability == .relaxed {
      warn(
        "kafka.durability", "relaxed: a weaker cluster than the topic files ask for is accepted",
        "leave it out in production")
    }
    guard findings.isEmpty else { return findings }
    return [
      DoctorFinding(
        .configuration, .good, "\(HumanText.count(configuration.apps.count, "app")), as production should be")
    ]
  }

  /// The files it names.
  static func files(_ configuration: MillraceConfiguration, clock: MillraceClock) -> [DoctorFinding] {
    var findings: [DoctorFinding] = []
    func look(_ read: () throws -> Void) {
      do {
        try read()
      } catch let error as MillraceError {
        findings += error.problems.map {
          DoctorFinding(.files, .configuration, $0.what, of: $0.place, remedy: $0.remedy)
        }
      } catch {
        findings.append(DoctorFinding(.files, error))
      }
    }
    look { _ = try TopicCatalog.load(configuration) }
    look { _ = try configuration.kafka.client(clientID: "millrace-cli") }
    look { _ = try SharedSecretCheck(configuration.apps) }
    look { _ = try SignedDataVerifier.configured(configuration.trust, clock: clock) }
    for (index, app) in configuration.apps.enumerated() {
      look { _ = try app.credentials(under: "apps[\(index)].api.privateKeyFile") }
    }
    if let files = configuration.ingress.tls.files {
      for file in [files.certificate, files.key] { look { _ = try Files.read(file) } }
    }
    guard findings.isEmpty else { return findings }
    return [DoctorFinding(.files, .good, "topic files, keys, secrets and certificates can be read")]
  }
}
