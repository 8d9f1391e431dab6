// Checks of a configuration without a network: its files exist, and its values suit production.

internal import AppStore
internal import AppStoreServerAPI
internal import AppStoreSignature
internal import MillraceTime
internal import MillraceCore
internal import MillraceRecords
internal import MillraceWorker

/// Checks a configuration and the files it names.
enum ConfigurationChecks {
  /// The problems of a configuration that cannot be loaded.
  static func findings(of error: MillraceError) -> [DoctorFinding] {
    error.problems.map {
      DoctorFinding(.configuration, .configuration, $0.what, of: $0.place, remedy: $0.remedy)
    }
  }

  /// Checks the values of a configuration.
  static func findings(_ configuration: MillraceConfiguration) -> [DoctorFinding] {
    var findings: [DoctorFinding] = []
    func warn(_ key: String, _ what: String, _ remedy: String) {
      findings.append(DoctorFinding(.configuration, .warning, what, of: key, remedy: remedy))
    }
    if configuration.apps.isEmpty {
      warn("apps", "no app is configured: the ingress answers every notification with 503", "add your apps")
    }
    for (index, app) in configuration.apps.enumerated() where !app.api.isComplete {
      warn(
        "apps[\(index)].api",
        "\(app.bundleId) has no API key: backfill and workers that call Apple do not work",
        "set issuerId, keyId and privateKeyFile (App Store Connect, Users and Access, Integrations)")
      if configuration.workers["subscriptions"] != nil {
        warn(
          "apps[\(index)].api",
          "rows of appstore.subscriptions that are uncertain cannot be corrected, because only Apple knows the present "
            + "period",
          "set the API key; the worker then asks Apple about each of them within a day")
      }
    }
    if !configuration.trust.roots.isEmpty {
      warn("trust.roots", "roots other than Apple's are trusted", "remove it in production")
    }
    if !configuration.clock.isReal {
      warn("clock", "time is compressed, for a rehearsal", "remove it in production")
    }
    for (key, url, apples) in [
      ("appStore.productionURL", configuration.appStore.productionURL, AppStoreSettings.appleProductionURL),
      ("appStore.sandboxURL", configuration.appStore.sandboxURL, AppStoreSettings.appleSandboxURL),
    ] where url != apples {
      warn(key, "requests go to \(URLMask.text(url)), not to Apple", "remove it in production")
    }
    if configuration.kafka.durability == .relaxed {
      warn(
        "kafka.durability", "relaxed: a cluster weaker than the topic files require is accepted",
        "remove it in production")
    }
    guard findings.isEmpty else { return findings }
    return [
      DoctorFinding(
        .configuration, .good, "\(HumanText.count(configuration.apps.count, "app")), suitable for production")
    ]
  }

  /// Checks the files that a configuration names.
  static func files(
    _ configuration: MillraceConfiguration, workers forms: [WorkerSettingsForm] = [], clock: MillraceClock
  ) -> [DoctorFinding] {
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
    look { try configuration.kafka.oauth.readFiles() }
    look { _ = try SharedSecretCheck(configuration.apps) }
    look { _ = try SignedDataVerifier.configured(configuration.trust, clock: clock) }
    for (index, app) in configuration.apps.enumerated() {
      look { _ = try app.credentials(under: "apps[\(index)].api.privateKeyFile") }
    }
    if let files = configuration.ingress.tls.files {
      for file in [files.certificate, files.key] { look { _ = try Files.read(file) } }
    }
    for (key, path) in configuration.files(workers: forms)
    where !findings.contains(where: { $0.subject?.contains(path) == true }) {
      look {
        do throws(MillraceError) { _ = try Files.read(path) } catch { throw error.under(key: key) }
      }
    }
    guard findings.isEmpty else { return findings }
    return [DoctorFinding(.files, .good, "topic files, keys, secrets and certificates are readable")]
  }
}
