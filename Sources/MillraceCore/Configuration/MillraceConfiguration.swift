// The configuration of every Millrace process as values, with their defaults. ConfigurationKeys.swift has the keys'
// names, accepted values and meanings; ConfigurationRelations.swift has the rules between keys.

public import AppStore
package import AppStoreSignature

/// One configuration for all processes of a deployment; each reads the part it needs.
///
/// `docs/configuration.md` lists the defaults.
public struct MillraceConfiguration: Sendable, Hashable {
  /// The file that the configuration was read from; nil if there is none.
  package var file: String?
  /// The Kafka cluster.
  package var kafka = KafkaSettings()
  /// The topic files and how they apply to this deployment.
  public var topics = TopicSettings()
  /// The certificates that notifications are verified against.
  package var trust = TrustSettings()
  /// The apps whose notifications are accepted.
  public var apps: [AppSettings] = []
  /// The workers of the deployment by name: overrides of their policies, and their own settings.
  package var workers: [String: WorkerEntry] = [:]
  /// The App Store Server API.
  package var appStore = AppStoreSettings()
  /// The HTTP endpoint that Apple posts to.
  package var ingress = IngressSettings()
  /// The operator's console.
  package var console = ConsoleSettings()
  /// The conditions that need attention, and the receiver of alerts.
  package var alerts = AlertSettings()
  /// The database that `millrace-postgres` writes to.
  package var postgres = PostgresSettings()
  /// `privacy`
  package var privacy = PrivacySettings()
  /// The HTTP endpoint for metrics and probes, in every process.
  package var admin = AdminSettings()
  /// The clock of the processes.
  package var clock = ClockSettings()
  /// The level and format of the log.
  package var logging = LogSettings()
  /// The export of traces.
  package var tracing = TracingSettings()
  /// The time limit for a shutdown.
  package var shutdown = ShutdownSettings()

  /// The defaults.
  public init() {}
}

/// `kafka`: the cluster and the guarantees required of it.
package struct KafkaSettings: Sendable, Hashable {
  /// How offsets, events and ledger entries are committed.
  package enum Commit: String, Sendable, Hashable, CaseIterable {
    /// In one Kafka transaction.
    case transactional
    /// Records are written and flushed, then offsets are committed. The ledger removes duplicates.
    case atLeastOnce = "at-least-once"
  }

  /// Whether a cluster that is weaker than the topic files declare is accepted.
  package enum Durability: String, Sendable, Hashable, CaseIterable {
    /// A process is not ready while a topic with `promise: true` is weaker than its file declares.
    case strict
    /// For development: topics only have to exist.
    case relaxed
  }

  /// The value of `bootstrapServers` that starts a cluster inside the process.
  package static let embedded = "embedded"

  /// Comma-separated `host:port`, or ``embedded``.
  package var bootstrapServers = "localhost:9092"
  /// Properties passed to librdkafka unchanged.
  package var properties: [String: String] = [:]
  /// librdkafka properties whose values are read from files, by property name.
  package var propertyFiles: [String: String] = [:]
  /// The source of the clients' tokens for SASL/OAUTHBEARER.
  package var oauth = OAuthSettings()
  /// The name that this process keeps across restarts and shares with no other process of its workers; `nil`: none.
  package var instance: String?
  /// How workers commit; `nil`: transactional on a real cluster, at-least-once on the embedded one.
  package var commit: Commit?
  /// Whether a cluster that is weaker than declared is accepted.
  package var durability = Durability.strict

  /// Whether the process starts a cluster of its own.
  package var isEmbedded: Bool { bootstrapServers == Self.embedded }

  /// The defaults.
  package init() {}
}

/// `topics`: the topic files.
public struct TopicSettings: Sendable, Hashable {
  /// The directory of the topic files; `nil`: the files of this version.
  package var directory: String?
  /// A prefix for every topic's name, so that several deployments can share a cluster.
  public var prefix = ""
  /// The partition count of topics whose file sets none.
  package var lanes = 4

  /// The defaults.
  public init() {}
}

/// `trust`: the certificates that notifications are verified against.
package struct TrustSettings: Sendable, Hashable {
  /// Online revocation checks with Apple's OCSP responder.
  package struct RevocationCheck: Sendable, Hashable {
    /// Whether the responder is asked.
    package var enabled = false
    /// How long to wait for an answer.
    package var timeout = Duration.seconds(2)
    /// How long to wait after a failed check before asking again, so that an outage does not delay every notification
    /// by ``timeout``.
    package var failureMemory = Duration.seconds(30)
  }

  /// DER or PEM files of root certificates; empty: the bundled Apple Root CA - G3.
  package var roots: [String] = []
  /// How the inner tokens of notifications are checked.
  package var innerTokens = InnerTokenCheck.vouched
  /// The online revocation checks.
  package var revocation = RevocationCheck()

  /// The defaults.
  package init() {}
}

/// `apps[]`: one app whose notifications are accepted.
public struct AppSettings: Sendable, Hashable {
  /// Credentials for the App Store Server API.
  public struct API: Sendable, Hashable {
    /// The issuer ID from App Store Connect.
    public var issuerId: String?
    /// The key ID from App Store Connect.
    public var keyId: String?
    /// The file of the private key (`.p8`).
    public var privateKeyFile: String?

    package init() {}

    /// Whether all three parts are set.
    package var isComplete: Bool { issuerId != nil && keyId != nil && privateKeyFile != nil }
    /// Whether no part is set.
    package var isEmpty: Bool { issuerId == nil && keyId == nil && privateKeyFile == nil }
  }

  /// The app's bundle identifier.
  public var bundleId = ""
  /// The app's Apple ID; notifications from Production carry it.
  public var appAppleId: Int64?
  /// The environments accepted for this app.
  public var environments: [AppStoreEnvironment] = [.production, .sandbox]
  /// Files of the shared secrets of version 1 notifications: two may be valid during a rotation.
  package var sharedSecretFiles: [String] = []
  /// Credentials for the App Store Server API; empty if it is not used for this app.
  public var api = API()

  /// The defaults.
  public init() {}
}

/// `appStore`: the App Store Server API.
package struct AppStoreSettings: Sendable, Hashable {
  /// Apple's base URL for Production.
  package static let appleProductionURL = "https://api.storekit.apple.com"
  /// Apple's base URL for Sandbox.
  package static let appleSandboxURL = "https://api.storekit-sandbox.apple.com"

  /// The base URL used for Production.
  package var productionURL = Self.appleProductionURL
  /// The base URL used for Sandbox.
  package var sandboxURL = Self.appleSandboxURL
  /// The part of Apple's rate limits that Millrace may use, above 0 and at most 1.
  package var share = 0.8
  /// A divisor of Apple's limits, for rehearsals in which time passes faster.
  package var limitDivisor = 1.0

  /// The defaults.
  package init() {}
}

/// `admin`: metrics and probes.
package struct AdminSettings: Sendable, Hashable {
  /// The address to listen on.
  package var host = "0.0.0.0"
  /// The TCP port; 0 lets the system choose.
  package var port = 9090
  /// How long one readiness check may take.
  package var checkTimeout = Duration.seconds(3)
  /// How long a readiness result is reused.
  package var checkMaxAge = Duration.seconds(5)

  /// The defaults.
  package init() {}
}

/// `clock`: compressed time for tests and rehearsals.
package struct ClockSettings: Sendable, Hashable {
  /// The wall time at which the process starts; `nil`: real time.
  package var origin: Timestamp?
  /// Clock seconds per real second.
  package var rate = 1.0
  /// The real time that corresponds to ``origin``, for processes that share one clock; `nil`: the process's start.
  package var start: Timestamp?

  /// Whether this is real time.
  package var isReal: Bool { origin == nil && rate == 1 && start == nil }

  /// The defaults.
  package init() {}
}

/// `logging`: the level and format of the log.
package struct LogSettings: Sendable, Hashable {
  /// A severity.
  package enum Level: String, Sendable, Hashable, CaseIterable {
    /// Everything.
    case trace
    /// Details for developers.
    case debug
    /// Normal operation.
    case info
    /// Unusual, but no action is needed.
    case notice
    /// An operator should look within the day.
    case warning
    /// An operator should look now.
    case error
    /// The process cannot do its work.
    case critical
  }

  /// The format of a log line.
  package enum Format: String, Sendable, Hashable, CaseIterable {
    /// One JSON object per line.
    case json
    /// Text for people.
    case text
  }

  /// The least severe level that is logged.
  package var level = Level.info
  /// The format; `nil`: text on a terminal, JSON otherwise.
  package var format: Format?

  /// The defaults.
  package init() {}
}

/// `tracing`: the export of traces.
package struct TracingSettings: Sendable, Hashable {
  /// The base URL of an OpenTelemetry collector that accepts OTLP over HTTP; `nil`: nothing is exported.
  package var endpoint: String?

  /// The defaults.
  package init() {}
}

/// `shutdown`: the time limit for a shutdown.
package struct ShutdownSettings: Sendable, Hashable {
  /// How long work in flight may take after SIGTERM before it is cancelled.
  package var grace = Duration.seconds(25)

  /// The defaults.
  package init() {}
}
