// The configuration of every Millrace process as values, with their defaults. How a key is spelled, what it accepts and
// what it means stands in ConfigurationKeys.swift; what must hold between keys in ConfigurationRelations.swift.

public import AppStore

/// One configuration for all processes of a deployment; each reads the part it needs.
///
/// The defaults are those of `docs/configuration.md`.
public struct MillraceConfiguration: Sendable, Hashable {
  /// The Kafka cluster.
  public var kafka = KafkaSettings()
  /// Where the topic files are and how they apply here.
  public var topics = TopicSettings()
  /// Whose signatures are believed.
  public var trust = TrustSettings()
  /// The apps whose notifications are accepted.
  public var apps: [AppSettings] = []
  /// How workers are run where their own policy is not to apply.
  public var workers: [WorkerSettings] = []
  /// The receivers that `millrace-forward` posts to.
  public var forward: [ForwardSettings] = []
  /// Whom `millrace-consumption` asks.
  public var consumption = ConsumptionSettings()
  /// What is answered by product, type and reason.
  public var consumptionRules: [ConsumptionRule] = []
  /// The App Store Server API.
  public var appStore = AppStoreSettings()
  /// The HTTP endpoint that Apple posts to.
  public var ingress = IngressSettings()
  /// The operator's console.
  public var console = ConsoleSettings()
  /// The HTTP endpoint for metrics and probes, in every process.
  public var admin = AdminSettings()
  /// The time that processes live in.
  public var clock = ClockSettings()
  /// What is logged and how.
  public var logging = LogSettings()
  /// How a process ends.
  public var shutdown = ShutdownSettings()

  /// The defaults.
  public init() {}
}

/// `kafka`: the cluster and the promises asked of it.
public struct KafkaSettings: Sendable, Hashable {
  /// How offsets, events and ledger entries are committed.
  public enum Commit: String, Sendable, Hashable, CaseIterable {
    /// In one Kafka transaction.
    case transactional
    /// Written, flushed, then committed; what ran twice is removed by the ledger.
    case atLeastOnce = "at-least-once"
  }

  /// Whether a cluster weaker than the topic files ask for is accepted.
  public enum Durability: String, Sendable, Hashable, CaseIterable {
    /// A process is not ready while a topic that holds a promise is weaker than its file.
    case strict
    /// Development: topics must exist, nothing more.
    case relaxed
  }

  /// The `bootstrapServers` that starts a cluster inside the process.
  public static let embedded = "embedded"

  /// Comma-separated `host:port`, or ``embedded``.
  public var bootstrapServers = "localhost:9092"
  /// Handed to librdkafka as they are.
  public var properties: [String: String] = [:]
  /// librdkafka properties whose values are read from files, by property name.
  public var propertyFiles: [String: String] = [:]
  /// `nil`: decided by what the cluster is.
  public var commit: Commit?
  /// Whether a weaker cluster is accepted.
  public var durability = Durability.strict

  /// Whether the process is to start a cluster of its own.
  public var isEmbedded: Bool { bootstrapServers == Self.embedded }

  /// The defaults.
  public init() {}
}

/// `topics`: the topic files.
public struct TopicSettings: Sendable, Hashable {
  /// The directory of the topic files.
  public var directory = "topics"
  /// Put before every topic's name; several deployments can share a cluster.
  public var prefix = ""
  /// Partitions of every topic whose file states no number of its own.
  public var lanes = 12

  /// The defaults.
  public init() {}
}

/// `trust`: whose signatures are believed.
public struct TrustSettings: Sendable, Hashable {
  /// Asking Apple's OCSP responder whether a certificate was revoked.
  public struct Revocation: Sendable, Hashable {
    /// Whether the question is asked at all.
    public var enabled = false
    /// How long an answer is waited for.
    public var timeout = Duration.seconds(2)
    /// How long a failure to get an answer is remembered, so that an outage does not cost every notification
    /// ``timeout``.
    public var failureMemory = Duration.seconds(30)
  }

  /// DER or PEM files of root certificates; empty: the bundled Apple Root CA - G3.
  public var roots: [String] = []
  /// Online revocation.
  public var revocation = Revocation()

  /// The defaults.
  public init() {}
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

    /// Whether all three parts are there.
    public var isComplete: Bool { issuerId != nil && keyId != nil && privateKeyFile != nil }
    /// Whether no part is there.
    public var isEmpty: Bool { issuerId == nil && keyId == nil && privateKeyFile == nil }
  }

  /// The app's bundle identifier.
  public var bundleId = ""
  /// The app's Apple ID; notifications from Production carry it.
  public var appAppleId: Int64?
  /// The environments accepted for this app.
  public var environments: [AppStoreEnvironment] = [.production, .sandbox]
  /// Files of the shared secrets of version 1 notifications: two may be valid during a rotation.
  public var sharedSecretFiles: [String] = []
  /// Credentials; empty when the API is not used for this app.
  public var api = API()

  /// The defaults.
  public init() {}
}

/// `appStore`: the App Store Server API.
public struct AppStoreSettings: Sendable, Hashable {
  /// Apple's base URL for Production.
  public static let appleProductionURL = "https://api.storekit.apple.com"
  /// Apple's base URL for Sandbox.
  public static let appleSandboxURL = "https://api.storekit-sandbox.apple.com"

  /// The base URL used for Production.
  public var productionURL = Self.appleProductionURL
  /// The base URL used for Sandbox.
  public var sandboxURL = Self.appleSandboxURL
  /// The part of Apple's rate limits that Millrace may use, above 0 and at most 1.
  public var share = 0.8
  /// What Apple's limits are divided by, for rehearsals in which time passes faster.
  public var limitDivisor = 1.0

  /// The defaults.
  public init() {}
}

/// `admin`: metrics and probes.
public struct AdminSettings: Sendable, Hashable {
  /// The address to listen on.
  public var host = "0.0.0.0"
  /// The TCP port; 0 lets the system choose.
  public var port = 9090
  /// How long one readiness check may take.
  public var checkTimeout = Duration.seconds(3)
  /// How long the result of the readiness checks is answered again without asking anew.
  public var checkMaxAge = Duration.seconds(5)

  /// The defaults.
  public init() {}
}

/// `clock`: compressed time for tests and rehearsals.
public struct ClockSettings: Sendable, Hashable {
  /// The wall time at which the process starts; `nil`: the real one.
  public var origin: Timestamp?
  /// How many seconds pass in one real second.
  public var rate = 1.0
  /// The real moment that ``origin`` belongs to, for processes that are to live in one time; `nil`: the process's start.
  public var start: Timestamp?

  /// Whether this is real time.
  public var isReal: Bool { origin == nil && rate == 1 && start == nil }

  /// The defaults.
  public init() {}
}

/// `logging`: what is logged and how.
public struct LogSettings: Sendable, Hashable {
  /// The least severity that is logged.
  public enum Level: String, Sendable, Hashable, CaseIterable {
    /// Everything.
    case trace
    /// For developers.
    case debug
    /// What happens.
    case info
    /// Unusual, but nothing to do.
    case notice
    /// Somebody should look within the day.
    case warning
    /// Somebody should look now.
    case error
    /// The process cannot do its work.
    case critical
  }

  /// How a line looks.
  public enum Format: String, Sendable, Hashable, CaseIterable {
    /// One JSON object a line.
    case json
    /// For eyes.
    case text
  }

  /// The least severity that is logged.
  public var level = Level.info
  /// `nil`: text on a terminal, JSON otherwise.
  public var format: Format?

  /// The defaults.
  public init() {}
}

/// `shutdown`: how a process ends.
public struct ShutdownSettings: Sendable, Hashable {
  /// How long work in flight may take after SIGTERM before it is cancelled.
  public var grace = Duration.seconds(25)

  /// The defaults.
  public init() {}
}
