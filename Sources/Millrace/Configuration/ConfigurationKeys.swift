// Every key of the configuration file: its name, its property, what it accepts and what it means. Reading, environment
// variables, `--print-config` and `docs/configuration.md` follow this list and nothing else.

extension MillraceConfiguration {
  static let table = SettingTable<MillraceConfiguration>(
    settings: keys, deferred: ["apps", "workers", "forward", "consumptionRules"])

  private static let ports: ClosedRange<Int> = 0...65_535
  private static let waits: ClosedRange<Duration> = .milliseconds(10)...(.seconds(3_600))

  private static let keys: [Setting<MillraceConfiguration>] =
    kafkaKeys + appStoreKeys + ingressKeys + consoleKeys + consumptionKeys + processKeys

  private static let kafkaKeys: [Setting<MillraceConfiguration>] = [
    Setting(
      "kafka.bootstrapServers", \.kafka.bootstrapServers, .nonEmptyText,
      "Comma-separated `host:port` of the brokers; `embedded` starts a cluster inside the process (development)."),
    Setting(
      "kafka.properties", \.kafka.properties, .textMap(isSecret: SecretFile.isSecretProperty),
      "Handed to librdkafka as they are: `security.protocol`, `sasl.*`, `ssl.*` and whatever else it knows."),
    Setting(
      "kafka.propertyFiles", \.kafka.propertyFiles, .textMap(),
      "librdkafka properties whose values stand in files: `{sasl.password: /run/secrets/kafka}`."),
    Setting(
      "kafka.commit", \.kafka.commit, .choice,
      "How workers commit; unset: `transactional` on a real cluster, `at-least-once` on the embedded one."),
    Setting(
      "kafka.durability", \.kafka.durability, .choice,
      "`strict`: not ready while a topic is weaker than its file; `relaxed` (development): topics must exist."),
    Setting("topics.directory", \.topics.directory, .path, "The directory of the topic files."),
    Setting("topics.prefix", \.topics.prefix, .text, "Put before the name of every topic."),
    Setting(
      "topics.lanes", \.topics.lanes, .integer(1...10_000),
      "Partitions of every topic whose file states no number. Never changed for a keyed topic that exists."),
  ]

  private static let appStoreKeys: [Setting<MillraceConfiguration>] = [
    Setting(
      "trust.roots", \.trust.roots, .list(of: .path),
      "DER or PEM files of the root certificates to trust; empty: the bundled Apple Root CA - G3."),
    Setting(
      "trust.revocation.enabled", \.trust.revocation.enabled, .boolean,
      "Ask Apple's OCSP responder whether a certificate was revoked, once for each chain while the answer holds."),
    Setting(
      "trust.revocation.timeout", \.trust.revocation.timeout, .duration(.milliseconds(10) ... .seconds(10)),
      "How long the responder's answer is waited for; then the notification is answered 503."),
    Setting(
      "trust.revocation.failureMemory", \.trust.revocation.failureMemory, .duration(.zero ... .seconds(3_600)),
      "How long a missing answer is remembered before the responder is asked again."),
    Setting(
      "appStore.productionURL", \.appStore.productionURL, .url, "Base URL of the App Store Server API, Production."),
    Setting("appStore.sandboxURL", \.appStore.sandboxURL, .url, "Base URL of the App Store Server API, Sandbox."),
    Setting(
      "appStore.share", \.appStore.share, .number(above: 0, most: 1),
      "The part of Apple's rate limits that Millrace may use; the rest is left to your own servers."),
    Setting(
      "appStore.limitDivisor", \.appStore.limitDivisor, .number(above: 0, most: 1_000_000),
      "What Apple's limits are divided by, as the simulator's are in a rehearsal. Refused with Apple's URLs unless 1."),
  ]

  private static let ingressKeys: [Setting<MillraceConfiguration>] = [
    Setting("ingress.host", \.ingress.host, .nonEmptyText, "Address to listen on for Apple's posts."),
    Setting("ingress.port", \.ingress.port, .integer(ports), "TCP port; 0 lets the system choose."),
    Setting(
      "ingress.tls.certificate", \.ingress.tls.certificate, .path,
      "PEM file of the certificate chain, leaf first; read again when it changes. Unset: plain HTTP."),
    Setting("ingress.tls.key", \.ingress.tls.key, .path, "PEM file of the certificate's private key."),
    Setting(
      "ingress.deadline", \.ingress.deadline, .duration(.milliseconds(100) ... .seconds(300)),
      "From the end of a request's head to its answer, Kafka's acknowledgement included; then 503."),
    Setting(
      "ingress.maxBodyBytes.v1", \.ingress.maxBodyBytes.v1, .size((64 << 10)...(64 << 20)),
      "Largest version 1 body; beyond: 413."),
    Setting(
      "ingress.maxBodyBytes.v2", \.ingress.maxBodyBytes.v2, .size((32 << 10)...(4 << 20)),
      "Largest version 2 body; beyond: 413."),
    Setting(
      "ingress.maxHeaderBytes", \.ingress.maxHeaderBytes, .size((1 << 10)...(1 << 20)),
      "Largest request head; beyond: 400 and the connection closes."),
    Setting(
      "ingress.headerTimeout", \.ingress.headerTimeout, .duration(waits),
      "How long a client may take to send a request's head."),
    Setting(
      "ingress.bodyTimeout", \.ingress.bodyTimeout, .duration(waits),
      "How long a client may take to send a request's body."),
    Setting(
      "ingress.maxRequestsInFlight", \.ingress.maxRequestsInFlight, .integer(1...100_000),
      "Requests between the end of their body and their answer at one time; beyond: 503."),
    Setting(
      "ingress.maxConnections", \.ingress.maxConnections, .integer(1...1_000_000),
      "Open connections at one time; more wait to be accepted."),
    Setting(
      "ingress.retryAfter", \.ingress.retryAfter, .duration(.seconds(1) ... .seconds(86_400)),
      "What `Retry-After` says with a 503."),
    Setting(
      "ingress.unverifiable", \.ingress.unverifiable, .choice,
      "Answer to a body whose only fault is its chain, or whose app or environment is not configured: `retry` 503, "
        + "`refuse` 401."),
    Setting(
      "ingress.quarantinePerMinute", \.ingress.quarantinePerMinute, .integer(0...1_000_000),
      "Most refused bodies copied to `millrace.quarantine` in a minute, and as many again whose outside is genuine; "
        + "0 copies none."),
  ]

  private static let consumptionKeys: [Setting<MillraceConfiguration>] = [
    Setting(
      "consumption.providers", \.consumption.providers, .list(of: .choice),
      "Whom `millrace-consumption` asks what was consumed, in this order: `http`, `topic`, `rules`."),
    Setting(
      "consumption.http.url", \.consumption.http.url, .url, "Where the question is posted to; see docs/consumption.md."),
    Setting(
      "consumption.http.secretFiles", \.consumption.http.secretFiles, .list(of: .path),
      "Files of the secrets that sign the question (Standard Webhooks); several during a rotation."),
    Setting(
      "consumption.http.timeout", \.consumption.http.timeout, .duration(.milliseconds(100) ... .seconds(3_600)),
      "How long an answer may take; then the question is asked again later. Less than the worker's `handlerTimeout`."),
  ]

  private static let processKeys: [Setting<MillraceConfiguration>] = [
    Setting("admin.host", \.admin.host, .nonEmptyText, "Address to listen on for `/metrics`, `/livez`, `/readyz`."),
    Setting("admin.port", \.admin.port, .integer(ports), "TCP port; 0 lets the system choose."),
    Setting(
      "admin.checkTimeout", \.admin.checkTimeout, .duration(waits), "How long one readiness check may take."),
    Setting(
      "admin.checkMaxAge", \.admin.checkMaxAge, .duration(.zero ... .seconds(300)),
      "How long a result of the readiness checks is answered again, so that probes do not stampede the cluster."),
    Setting(
      "clock.origin", \.clock.origin, .timestamp,
      "Wall time at the start of the process, for rehearsals; unset: the real time. Refused with Apple's URLs."),
    Setting(
      "clock.start", \.clock.start, .timestamp,
      "The real moment at which it is `clock.origin`, so that all processes of a rehearsal live in one time; unset: each "
        + "process's own start."),
    Setting(
      "clock.rate", \.clock.rate, .number(above: 0, most: 1_000_000),
      "Seconds that pass in one real second, for rehearsals. Refused with Apple's URLs unless 1."),
    Setting("logging.level", \.logging.level, .choice, "Least severity that is logged."),
    Setting("logging.format", \.logging.format, .choice, "Unset: `text` on a terminal, `json` otherwise."),
    Setting(
      "shutdown.grace", \.shutdown.grace, .duration(.milliseconds(100) ... .seconds(3_600)),
      "How long work in flight may take after SIGTERM; then it is cancelled."),
  ]
}

extension AppSettings {
  static let table = SettingTable<AppSettings>(settings: [
    Setting("bundleId", \.bundleId, .nonEmptyText, "The app's bundle identifier. Required."),
    Setting(
      "appAppleId", \.appAppleId, .integer(1...Int64.max), "The app's Apple ID. Required for Production."),
    Setting(
      "environments", \.environments, .list(of: .environment), "The environments accepted for this app."),
    Setting(
      "sharedSecretFiles", \.sharedSecretFiles, .list(of: .path),
      "Files of the shared secrets of version 1 notifications; two may be valid during a rotation. Empty: version 1 "
        + "is refused for this app."),
    Setting("api.issuerId", \.api.issuerId, .nonEmptyText, "Issuer ID of the App Store Server API key."),
    Setting("api.keyId", \.api.keyId, .nonEmptyText, "Key ID of the App Store Server API key."),
    Setting("api.privateKeyFile", \.api.privateKeyFile, .path, "File of the private key (`.p8`)."),
  ])
}

extension WorkerSettings {
  static let table = SettingTable<WorkerSettings>(settings: [
    Setting("name", \.name, .workerName, "The worker that the entry is for. Required."),
    Setting(
      "ordering", \.ordering, .choice,
      "`free`: a record that waits steps aside; `strict`: successors of its key wait behind it."),
    Setting(
      "start", \.start, .choice, "Where a worker that has never run begins: `earliest` or `latest`; never used again."),
    Setting(
      "retryDelays", \.retryDelays, .list(of: .duration(.milliseconds(10) ... .seconds(7 * 86_400))),
      "Delays of the retry tiers, ascending; each is a topic of its own."),
    Setting(
      "maximumAttempts", \.maximumAttempts, .integer(1...1_000), "Runs of a handler before a dead letter is made."),
    Setting(
      "handlerTimeout", \.handlerTimeout, .duration(.milliseconds(10) ... .seconds(3_600)),
      "How long one run of a handler may take."),
    Setting(
      "parallelism", \.parallelism, .integer(1...1_000), "Handlers of one lane that run at the same time."),
    Setting(
      "recordsInFlight", \.recordsInFlight, .integer(1...100_000), "Records of one lane in memory at most."),
    Setting(
      "bytesInFlight", \.bytesInFlight, .size((1 << 20)...(1 << 30)), "Bytes of one lane's records in memory at most."),
    Setting(
      "ledgerHorizon", \.ledgerHorizon, .duration(.seconds(60) ... .seconds(400 * 86_400)),
      "How long what was handled is remembered; below 157h Apple's last retry can come later."),
    Setting(
      "drainTimeout", \.drainTimeout, .duration(.milliseconds(10) ... .seconds(3_600)),
      "How long handlers may finish when a lane moves or the process leaves."),
    Setting(
      "staticMember", \.staticMember, .nonEmptyText,
      "`group.instance.id`, different in every replica: a restart within the session timeout moves no lane. For fixed "
        + "replicas only."),
  ])
}

extension SettingCodec where Value == String {
  static let workerName = scalar(
    "worker name", expected: "1 to 40 lower-case letters, digits and hyphens",
    parse: { WorkerTopics.isName($0) ? $0 : nil }, render: { $0 })
}
