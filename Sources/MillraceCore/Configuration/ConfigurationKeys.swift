// Every key of the configuration file: its name, its property, the values it accepts and its meaning. The reader, the
// environment variables, `--print-config` and `docs/configuration.md` all derive from this list.

internal import AppStoreServerAPI

extension MillraceConfiguration {
  static let table = SettingTable<MillraceConfiguration>(
    settings: keys, deferred: ["apps", "workers", "webhooks"])

  private static let ports: ClosedRange<Int> = 0...65_535
  private static let waits: ClosedRange<Duration> = .milliseconds(10)...(.seconds(3_600))

  private static let keys: [Setting<MillraceConfiguration>] =
    kafkaKeys + appStoreKeys + ingressKeys + consoleKeys + alertKeys + postgresKeys + privacyKeys
    + processKeys

  private static let kafkaKeys: [Setting<MillraceConfiguration>] = [
    Setting(
      "kafka.bootstrapServers", \.kafka.bootstrapServers, .servers,
      "Comma-separated `host:port` of the brokers; `embedded` starts a cluster inside the process (development)."),
    Setting(
      "kafka.properties", \.kafka.properties, .textMap(isSecret: SecretFile.isSecretProperty),
      "Properties passed to librdkafka unchanged: `security.protocol`, `sasl.*`, `ssl.*` and any other it supports."),
    Setting(
      "kafka.propertyFiles", \.kafka.propertyFiles, .textMap(),
      "librdkafka properties whose values are read from files: `{sasl.password: /run/secrets/kafka}`."),
    Setting(
      "kafka.oauth.method", \.kafka.oauth.method, .choice,
      "The source of tokens for SASL/OAUTHBEARER, for every Kafka client of the process. `oidc`: an OpenID Connect server. "
        + "`file`: a file that another process renews. `aws`: a signature for Amazon MSK IAM. Unset: the clients use no "
        + "tokens. With a method, `security.protocol` is `sasl_ssl` unless `kafka.properties` sets it."),
    Setting(
      "kafka.oauth.tokenURL", \.kafka.oauth.tokenURL, .exactURL,
      "`oidc`: the token endpoint of the server, exactly as the server expects it."),
    Setting("kafka.oauth.clientId", \.kafka.oauth.clientId, .nonEmptyText, "`oidc`: the client's id at the server."),
    Setting(
      "kafka.oauth.clientSecretFile", \.kafka.oauth.clientSecretFile, .path,
      "`oidc`: the file of the client's secret. It is read for each token."),
    Setting(
      "kafka.oauth.scope", \.kafka.oauth.scope, .nonEmptyText,
      "`oidc`: the scope to request. Unset: the server's default for the client."),
    Setting(
      "kafka.oauth.caFile", \.kafka.oauth.caFile, .path,
      "`oidc`, `aws`: the PEM file of the certificates that the server's certificate must lead to. Unset: the system's."
    ),
    Setting(
      "kafka.oauth.tokenFile", \.kafka.oauth.tokenFile, .path,
      "`file`: the file of the token. It is read when three quarters of the token's time have passed, and once a minute "
        + "if the token is no JWT with an end."),
    Setting(
      "kafka.oauth.extensions", \.kafka.oauth.extensions, .textMap(),
      "`oidc`, `file`: SASL extensions, such as Confluent Cloud's `{logicalCluster: lkc-1, identityPoolId: pool-1}`."),
    Setting("kafka.oauth.region", \.kafka.oauth.region, .nonEmptyText, "`aws`: the region of the cluster."),
    Setting(
      "kafka.oauth.accessKeyId", \.kafka.oauth.accessKeyId, .nonEmptyText,
      "`aws`: the id of a static access key. Unset: the process looks for credentials in the variables `AWS_*` that AWS "
        + "sets for an IAM role."),
    Setting(
      "kafka.oauth.secretAccessKeyFile", \.kafka.oauth.secretAccessKeyFile, .path,
      "`aws`: the file of the static key's secret."),
    Setting(
      "kafka.instance", \.kafka.instance, .instanceName,
      "A name that this process keeps across restarts and shares with no other process of its workers, such as the "
        + "name of a StatefulSet pod. Workers use it as their `group.instance.id` (static membership) and at the end "
        + "of their `transactional.id`. Unset: dynamic membership."),
    Setting(
      "kafka.commit", \.kafka.commit, .choice,
      "How workers commit. Unset: `transactional` on a real cluster, `at-least-once` on the embedded one."),
    Setting(
      "kafka.durability", \.kafka.durability, .choice,
      "`strict`: a process is not ready while a topic is weaker than its file declares. `relaxed` (development): "
        + "topics only have to exist."),
    Setting(
      "topics.directory", \.topics.directory, .path,
      "A directory with topic files of your own. Unset: the files of this version, which are part of every program."),
    Setting("topics.prefix", \.topics.prefix, .text, "A prefix for the name of every topic."),
    Setting(
      "topics.lanes", \.topics.lanes, .integer(1...10_000),
      "The partition count of topics whose file sets none. It is never changed for an existing keyed topic."),
  ]

  private static let appStoreKeys: [Setting<MillraceConfiguration>] = [
    Setting(
      "trust.roots", \.trust.roots, .list(of: .path),
      "DER or PEM files of the trusted root certificates. Empty: the bundled Apple Root CA - G3."),
    Setting(
      "trust.innerTokens", \.trust.innerTokens, .choice,
      "How the tokens inside a version 2 notification are checked. `vouched`: the notification's signature covers their "
        + "text, and their claims must agree with it. `verified`: each signature and chain is verified as well."),
    Setting(
      "trust.revocation.enabled", \.trust.revocation.enabled, .boolean,
      "Whether to ask Apple's OCSP responder if a certificate was revoked. Each chain is checked once while the answer "
        + "is valid."),
    Setting(
      "trust.revocation.timeout", \.trust.revocation.timeout, .duration(.milliseconds(10) ... .seconds(10)),
      "How long to wait for the responder. After that the notification is answered with 503."),
    Setting(
      "trust.revocation.failureMemory", \.trust.revocation.failureMemory, .duration(.zero ... .seconds(3_600)),
      "How long to wait after a failed check before asking the responder again."),
    Setting(
      "appStore.productionURL", \.appStore.productionURL, .url, "Base URL of the App Store Server API, Production."),
    Setting("appStore.sandboxURL", \.appStore.sandboxURL, .url, "Base URL of the App Store Server API, Sandbox."),
    Setting(
      "appStore.share", \.appStore.share, .number(above: 0, most: 1),
      "The part of Apple's rate limits that Millrace may use. The rest is left for your own servers."),
    Setting(
      "appStore.limitDivisor", \.appStore.limitDivisor, .number(above: 0, most: 1_000_000),
      "A divisor of Apple's limits, to match the simulator's limits in a rehearsal. Any value but 1 is refused with "
        + "Apple's URLs."),
  ]

  private static let ingressKeys: [Setting<MillraceConfiguration>] = [
    Setting("ingress.host", \.ingress.host, .nonEmptyText, "The address to listen on for Apple's requests."),
    Setting("ingress.port", \.ingress.port, .integer(ports), "TCP port; 0 lets the system choose."),
    Setting(
      "ingress.tls.certificate", \.ingress.tls.certificate, .path,
      "PEM file of the certificate chain, leaf first. It is read again when it changes. Unset: plain HTTP."),
    Setting("ingress.tls.key", \.ingress.tls.key, .path, "PEM file of the certificate's private key."),
    Setting(
      "ingress.deadline", \.ingress.deadline, .duration(.milliseconds(100) ... .seconds(300)),
      "The time limit from the end of a request's head to its response, including Kafka's acknowledgement. After that "
        + "the ingress answers 503."),
    Setting(
      "ingress.maxBodyBytes.v1", \.ingress.maxBodyBytes.v1, .size((64 << 10)...(64 << 20)),
      "The largest version 1 body. A larger one is answered with 413."),
    Setting(
      "ingress.maxBodyBytes.v2", \.ingress.maxBodyBytes.v2, .size((32 << 10)...(4 << 20)),
      "The largest version 2 body. A larger one is answered with 413."),
    Setting(
      "ingress.maxHeaderBytes", \.ingress.maxHeaderBytes, .size((1 << 10)...(1 << 20)),
      "The largest request head. A larger one is answered with 400, and the connection is closed."),
    Setting(
      "ingress.headerTimeout", \.ingress.headerTimeout, .duration(waits),
      "How long a client may take to send a request's head."),
    Setting(
      "ingress.bodyTimeout", \.ingress.bodyTimeout, .duration(waits),
      "How long a client may take to send a request's body."),
    Setting(
      "ingress.maxRequestsInFlight", \.ingress.maxRequestsInFlight, .integer(1...100_000),
      "The maximum number of requests being verified or written. Further requests are answered with 503."),
    Setting(
      "ingress.maxConnections", \.ingress.maxConnections, .integer(1...1_000_000),
      "The maximum number of open connections. Further connections wait to be accepted."),
    Setting(
      "ingress.retryAfter", \.ingress.retryAfter, .duration(.seconds(1) ... .seconds(86_400)),
      "The value of `Retry-After` in a 503 response."),
    Setting(
      "ingress.unverifiable", \.ingress.unverifiable, .choice,
      "The answer to a body whose only fault is its certificate chain, or whose app or environment is not configured: "
        + "503 for `retry`, 401 for `refuse`."),
    Setting(
      "ingress.quarantinePerMinute", \.ingress.quarantinePerMinute, .integer(0...1_000_000),
      "The maximum number of refused bodies copied to `millrace.quarantine` per minute. Bodies with a valid outer "
        + "signature or shared secret have a second limit of the same size. 0 copies none."),
  ]

  private static let processKeys: [Setting<MillraceConfiguration>] = [
    Setting(
      "admin.host", \.admin.host, .nonEmptyText, "The address to listen on for `/metrics`, `/livez` and `/readyz`."),
    Setting("admin.port", \.admin.port, .integer(ports), "TCP port; 0 lets the system choose."),
    Setting(
      "admin.checkTimeout", \.admin.checkTimeout, .duration(waits), "How long one readiness check may take."),
    Setting(
      "admin.checkMaxAge", \.admin.checkMaxAge, .duration(.zero ... .seconds(300)),
      "How long a readiness result is reused, so that frequent probes do not overload the cluster."),
    Setting(
      "clock.origin", \.clock.origin, .timestamp,
      "The wall time at which the process starts, for rehearsals. Records then carry the rehearsal's time in the "
        + "header `millrace-time`; their timestamps stay real. Unset: real time. Refused with Apple's URLs."),
    Setting(
      "clock.start", \.clock.start, .timestamp,
      "The real time that corresponds to `clock.origin`, so that all processes of a rehearsal share one time. Unset: "
        + "the start of each process."),
    Setting(
      "clock.rate", \.clock.rate, .number(above: 0, most: 1_000_000),
      "Clock seconds per real second, for rehearsals. Any value but 1 is refused with Apple's URLs."),
    Setting("logging.level", \.logging.level, .choice, "The least severe level that is logged."),
    Setting("logging.format", \.logging.format, .choice, "Unset: `text` on a terminal, `json` otherwise."),
    Setting(
      "tracing.otlp.endpoint", \.tracing.endpoint, .url,
      "The base URL of an OpenTelemetry collector for the spans of the ingress and the workers (OTLP over HTTP), such as "
        + "`http://collector:4318`. Unset: spans are not exported."),
    Setting(
      "shutdown.grace", \.shutdown.grace, .duration(.milliseconds(100) ... .seconds(3_600)),
      "How long work in flight may take after SIGTERM before it is cancelled."),
  ]
}

extension AppSettings {
  static let table = SettingTable<AppSettings>(settings: [
    Setting("bundleId", \.bundleId, .bundleId, "The app's bundle identifier. Required."),
    Setting(
      "appAppleId", \.appAppleId, .integer(1...Int64.max), "The app's Apple ID. Required for Production."),
    Setting(
      "environments", \.environments, .list(of: .environment), "The environments accepted for this app."),
    Setting(
      "sharedSecretFiles", \.sharedSecretFiles, .list(of: .path),
      "Files with the shared secrets of version 1 notifications; two may be valid during a rotation. Empty: version 1 "
        + "is refused for this app."),
    Setting("api.issuerId", \.api.issuerId, .issuerId, "Issuer ID of the App Store Server API key."),
    Setting("api.keyId", \.api.keyId, .keyId, "Key ID of the App Store Server API key."),
    Setting("api.privateKeyFile", \.api.privateKeyFile, .path, "File of the private key (`.p8`)."),
  ])
}

extension WorkerEntry {
  static let table = SettingTable<WorkerEntry>(
    settings: workerKeys + handlerKeys, deferred: ["settings"])

  private static let workerKeys: [Setting<WorkerEntry>] = [
    Setting(
      "ordering", \.ordering, .choice,
      "`free`: a delayed record does not block later records of its key. `strict`: later records of its key wait "
        + "behind it."),
    Setting(
      "start", \.start, .choice,
      "The offset at which a worker starts on its first run: `earliest` or `latest`. Later runs ignore it."),
    Setting(
      "retryDelays", \.retryDelays, .list(of: .duration(.milliseconds(10) ... .seconds(7 * 86_400))),
      "The retry delays, ascending. Each delay has a topic of its own."),
    Setting(
      "maximumAttempts", \.maximumAttempts, .integer(1...1_000),
      "How many times a handler runs before its record or timer becomes a dead letter."),
    Setting(
      "handlerTimeout", \.handlerTimeout, .duration(.milliseconds(10) ... .seconds(86_400)),
      "How long one run of a handler may take."),
    Setting(
      "parallelism", \.parallelism, .integer(1...1_000),
      "The maximum number of handlers of one lane that run at the same time."),
    Setting(
      "recordsInFlight", \.recordsInFlight, .integer(1...100_000),
      "The maximum number of one lane's records in memory. Twice as many outcomes may wait for their commit."),
    Setting(
      "bytesInFlight", \.bytesInFlight, .size((1 << 20)...(1 << 30)),
      "The maximum size of one lane's records and uncommitted outcomes in memory."),
    Setting(
      "ledgerHorizon", \.ledgerHorizon, .duration(.seconds(60) ... .seconds(400 * 86_400)),
      "How long the ledger remembers handled notifications. Apple's last retry comes after 157h: keep it above that."),
    Setting(
      "drainTimeout", \.drainTimeout, .duration(.milliseconds(10) ... .seconds(3_600)),
      "How long a lane may take to stop. The last quarter (at most 5s) is for the commit: no handler runs then."),
    Setting(
      "staticMember", \.staticMember, .instanceName, "Overrides `kafka.instance` for this worker."),
    Setting(
      "onStop", \.onStop, .choice,
      "Whether a static member keeps its lanes on an orderly stop: `keep` (the default) reserves them for its next "
        + "start within the session timeout, `leave` gives them to other members. A dynamic member always leaves."),
    Setting(
      "calls", \.calls, .list(of: .endpoint),
      "The App Store Server API endpoints that the worker calls. Its calls to other endpoints are not sent. Workers "
        + "that call the same endpoint divide `appStore.share`. Unset: the known endpoints of a worker that ships with "
        + "Millrace, every endpoint for a worker of yours."
    ),
    Setting(
      "callWeight", \.callWeight, .number(above: 0, most: 1_000),
      "The worker's weight among the workers that call the same endpoint. Unset: 1."),
  ]
}

extension SettingCodec where Value == String {
  /// A valid `group.instance.id`. It is shorter than brokers allow, because the `transactional.id` consists of the
  /// group and this name.
  static let instanceName = scalar(
    "instance name", expected: "1 to 200 letters, digits, hyphens, dots and underscores",
    parse: { text in
      let isName = text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
          true
        default: false
        }
      }
      return isName && (1...200).contains(text.utf8.count) && text != "." && text != ".." ? text : nil
    }, render: { $0 })
}

extension SettingCodec where Value == APIEndpoint {
  static let endpoint = scalar(
    "endpoint",
    expected: "one of " + APIEndpoint.allCases.map(\.rawValue).joined(separator: ", "),
    parse: { APIEndpoint(rawValue: $0) }, render: { $0.rawValue })
}
