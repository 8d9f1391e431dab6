import AppStore
import TestEnvironment
import Testing

@testable import MillraceCore

@Suite struct ConfigurationLoaderTests {
  /// The complete example of the design.
  private static let example = """
    kafka:
      bootstrapServers: a:9092,b:9092
      properties: {security.protocol: SASL_SSL, sasl.username: millrace}
      propertyFiles: {sasl.password: /run/secrets/kafka}
      commit: transactional
    topics: { directory: other, prefix: "eu.", lanes: 24 }
    trust: { roots: [root.pem] }
    apps:
      - bundleId: com.example.app
        appAppleId: 1234567890
        environments: [Production, Sandbox]
        sharedSecretFiles: [/run/secrets/v1]
        api: { issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: 2X9R4HXF34, privateKeyFile: /run/secrets/apple.p8 }
      - bundleId: com.example.other
        environments: [Sandbox]
    appStore: { productionURL: "https://localhost:1/", share: 0.5 }
    ingress: { host: 127.0.0.1, port: 0, deadline: 4s, bodyTimeout: 2s, maxBodyBytes: { v1: 4MiB, v2: 512KiB }, unverifiable: refuse }
    admin: { host: 127.0.0.1, port: 0 }
    logging: { level: debug, format: json }
    """

  @Test func `Every section of the example is read`() throws {
    let configuration = try LoadedConfiguration.load(text: Self.example).configuration
    #expect(configuration.kafka.bootstrapServers == "a:9092,b:9092")
    #expect(configuration.kafka.properties["security.protocol"] == "SASL_SSL")
    #expect(configuration.kafka.propertyFiles == ["sasl.password": "/run/secrets/kafka"])
    #expect(configuration.kafka.commit == .transactional)
    #expect(configuration.topics.directory == "other")
    #expect(configuration.topics.prefix == "eu.")
    #expect(configuration.topics.lanes == 24)
    #expect(configuration.trust.roots == ["root.pem"])
    #expect(configuration.apps.map(\.bundleId) == ["com.example.app", "com.example.other"])
    #expect(configuration.apps[0].appAppleId == 1_234_567_890)
    #expect(configuration.apps[0].api.isComplete)
    #expect(configuration.apps[1].environments == [.sandbox])
    #expect(configuration.appStore.productionURL == "https://localhost:1")
    #expect(configuration.appStore.share == 0.5)
    #expect(configuration.ingress.deadline == .seconds(4))
    #expect(configuration.ingress.maxBodyBytes.v2 == 512 << 10)
    #expect(configuration.ingress.unverifiable == .refuse)
    #expect(configuration.logging.format == .json)
  }

  @Test(arguments: ["", "# nothing\n", "kafka:\n", "apps:\n"])
  func `An empty file gives the defaults`(text: String) throws {
    #expect(try LoadedConfiguration.load(text: text).configuration == MillraceConfiguration())
  }

  @Test func `Environment overrides file, file overrides default, and each value knows its source`() throws {
    let loaded = try LoadedConfiguration.load(
      text: "ingress:\n  port: 8081\n  host: 127.0.0.1\n", file: "m.yaml",
      environment: ["MILLRACE_INGRESS_PORT": "8082", "HOME": "/root"])
    #expect(loaded.configuration.ingress.port == 8_082)
    #expect(loaded.configuration.ingress.host == "127.0.0.1")
    #expect(loaded.sources["ingress.port"] == .environment("MILLRACE_INGRESS_PORT"))
    #expect(loaded.sources["ingress.host"] == .file("m.yaml", line: 3))
    #expect(loaded.sources["ingress.deadline"] == nil)
  }

  @Test func `Every scalar key can be set by its variable`() throws {
    for setting in MillraceConfiguration.table.settings {
      let standard = setting.read(MillraceConfiguration())?.flowText
      let samples = [
        "boolean": "true", "text": "x", "path": "x", "time": "2026-01-31T12:00:00Z", "URL": "https://x",
        "instance name": "x",
      ]
      let choice = setting.kind.contains("|") ? setting.kind.split(separator: "|").last.map(String.init) : nil
      let text = choice ?? samples[setting.kind] ?? standard ?? ""
      let name = EnvironmentVariables.name(of: setting.path)
      var environment = [name: text]
      if setting.name == "postgres.url" { environment[name] = "postgresql://x" }
      // Settings that must be given together with this one.
      if setting.name == "ingress.tls.key" { environment["MILLRACE_INGRESS_TLS_CERTIFICATE"] = "x" }
      if setting.name == "ingress.tls.certificate" { environment["MILLRACE_INGRESS_TLS_KEY"] = "x" }
      if setting.name.hasPrefix("kafka.oauth.") {
        let method =
          switch setting.name {
          case "kafka.oauth.tokenFile": ["METHOD": "file"]
          case "kafka.oauth.extensions": ["METHOD": "file", "TOKEN_FILE": "x"]
          case "kafka.oauth.method", "kafka.oauth.region", "kafka.oauth.accessKeyId", "kafka.oauth.secretAccessKeyFile":
            ["METHOD": "aws", "REGION": "x", "ACCESS_KEY_ID": "x", "SECRET_ACCESS_KEY_FILE": "x"]
          default: ["METHOD": "oidc", "TOKEN_URL": "https://x", "CLIENT_ID": "x", "CLIENT_SECRET_FILE": "x"]
          }
        for (key, value) in method {
          environment["MILLRACE_KAFKA_OAUTH_\(key)"] = environment["MILLRACE_KAFKA_OAUTH_\(key)"] ?? value
        }
      }
      if ["clock.origin", "clock.start"].contains(setting.name) {
        environment["MILLRACE_APP_STORE_PRODUCTION_URL"] = "http://x"
        environment["MILLRACE_APP_STORE_SANDBOX_URL"] = "http://x"
      }
      let loaded = try LoadedConfiguration.load(text: "", environment: environment)
      #expect(loaded.sources[setting.name] == .environment(name))
    }
  }

  @Test func `Lists and maps in variables are YAML, and lists can be comma-separated`() throws {
    let loaded = try LoadedConfiguration.load(
      text: "",
      environment: [
        "MILLRACE_TRUST_ROOTS": "a.pem, b.pem", "MILLRACE_KAFKA_PROPERTIES": "{security.protocol: SSL}",
      ])
    #expect(loaded.configuration.trust.roots == ["a.pem", "b.pem"])
    #expect(loaded.configuration.kafka.properties == ["security.protocol": "SSL"])
  }

  @Test func `Variables set and add apps by number`() throws {
    let loaded = try LoadedConfiguration.load(
      text: "apps:\n  - bundleId: com.example.one\n    environments: [Sandbox]\n",
      environment: [
        "MILLRACE_APPS_0_ENVIRONMENTS": "Production", "MILLRACE_APPS_0_APP_APPLE_ID": "7",
        "MILLRACE_APPS_1_BUNDLE_ID": "com.example.two", "MILLRACE_APPS_1_ENVIRONMENTS": "Sandbox",
      ])
    #expect(loaded.configuration.apps.map(\.bundleId) == ["com.example.one", "com.example.two"])
    #expect(loaded.configuration.apps[0].environments == [.production])
    #expect(loaded.configuration.apps[0].appAppleId == 7)
    #expect(loaded.sources["apps[1].bundleId"] == .environment("MILLRACE_APPS_1_BUNDLE_ID"))
  }

  @Test(arguments: [
    ("a", "a"), ("a:9092", "a:9092"), (" a:1 , b:65535\n", "a:1,b:65535"), ("[::1]:9092", "[::1]:9092"),
    ("::1", "::1"), ("embedded", "embedded"),
  ])
  func `Server lists are read without white space`(text: String, servers: String) throws {
    let loaded = try LoadedConfiguration.load(text: "", environment: ["MILLRACE_KAFKA_BOOTSTRAP_SERVERS": text])
    #expect(loaded.configuration.kafka.bootstrapServers == servers)
  }

  @Test func `A password in a server list is not repeated`() {
    let error = #expect(throws: MillraceError.self) {
      try LoadedConfiguration.load(text: "kafka: {bootstrapServers: 'SASL://u:hunter2@a:9092'}")
    }
    #expect(error?.description.contains("hunter2") == false)
  }

  @Test func `Variables set and add workers by name`() throws {
    let loaded = try LoadedConfiguration.load(
      text: "workers: {refunds: {parallelism: 2}}",
      environment: [
        "MILLRACE_WORKERS": "{consumption: {parallelism: 3}, winback: {}}", "MILLRACE_WORKERS_REFUNDS_PARALLELISM": "4",
        "MILLRACE_WORKERS_RENEWAL_EXTENSIONS_ON_STOP": "leave",
      ])
    let workers = loaded.configuration.workers
    #expect(loaded.configuration.workerNames == ["consumption", "refunds", "renewal-extensions", "winback"])
    #expect(workers["refunds"]?.parallelism == 4 && workers["consumption"]?.parallelism == 3)
    #expect(workers["renewal-extensions"]?.onStop == .leave)
    #expect(loaded.sources["workers.refunds.parallelism"] == .environment("MILLRACE_WORKERS_REFUNDS_PARALLELISM"))
    #expect(throws: MillraceError.self) {
      try LoadedConfiguration.load(text: "", environment: ["MILLRACE_WORKERS_REFUNDS_PARALLEL": "4"])
    }
  }

  @Test func `A variable for an app beyond the next one is unknown`() {
    #expect(throws: MillraceError.self) {
      try LoadedConfiguration.load(text: "", environment: ["MILLRACE_APPS_3_BUNDLE_ID": "com.example.far"])
    }
  }

  private static let wrong: [(text: String, place: String, hint: String)] = [
    ("kafka:\n  bootstrapServer: x\n", "m.yaml:2", "kafka.bootstrapServers"),
    ("durability: relaxed\n", "m.yaml:1", "kafka.durability"),
    ("ingres:\n  port: 1\n", "m.yaml:1", "did you mean `ingress`?"),
    ("zookeeper: x\n", "m.yaml:1", "remove it"),
    ("apps:\n  - bundleID: x\n", "m.yaml:2", "apps[0].bundleId"),
    ("ingress:\n  deadline: 10\n", "m.yaml:2", "such as 500ms"),
    ("ingress:\n  deadline: 10h\n", "m.yaml:2", "100ms to 5m"),
    ("ingress:\n  maxBodyBytes:\n    v2: 1GiB\n", "m.yaml:3", "32KiB to 4MiB"),
    ("ingress:\n  port: http\n", "m.yaml:2", "0 to 65535"),
    ("ingress: 7\n", "m.yaml:1", "name: value"),
    ("apps: {bundleId: x}\n", "m.yaml:1", "list of apps"),
    ("kafka:\n  commit: never\n", "m.yaml:2", "transactional, at-least-once"),
    ("kafka:\n  bootstrapServers: https://a:9092\n", "m.yaml:2", "the invalid value \"https://a:9092\""),
    ("kafka:\n  bootstrapServers: a:9092,b:99092\n", "m.yaml:2", "ports from 1 to 65535"),
    ("kafka:\n  bootstrapServers: a:0\n", "m.yaml:2", "ports from 1 to 65535"),
    ("kafka:\n  bootstrapServers: 'a:9092,'\n", "m.yaml:2", "host:port"),
    ("kafka:\n  bootstrapServers: a b:9092\n", "m.yaml:2", "host:port"),
    ("kafka:\n  bootstrapServers: ':9092'\n", "m.yaml:2", "host:port"),
    ("kafka:\n  bootstrapServers: '[::1]:x'\n", "m.yaml:2", "host:port"),
    ("kafka:\n  properties: [a]\n", "m.yaml:2", "names and values"),
    ("trust:\n  revocation:\n    enabled: yes\n", "m.yaml:3", "true or false"),
    ("kafka: {}\nkafka: {}\n", "m.yaml", "each key once"),
    ("kafka: [\n", "m.yaml", "correct the file"),
    ("appStore:\n  productionURL: ftp://x\n", "m.yaml:2", "https://"),
    ("workers: [{name: refunds}]\n", "m.yaml:1", "a section for each worker"),
    ("workers:\n  Refunds: {}\n", "m.yaml:2", "lower-case"),
    ("workers:\n  refunds:\n    retryDelay: [1s]\n", "m.yaml:3", "workers.refunds.retryDelays"),
    ("clock:\n  origin: yesterday\n", "m.yaml:2", "2026-01-31T12:00:00Z"),
  ]

  @Test(arguments: wrong)
  func `An error names the line and a correction`(
    text: String, place: String, hint: String
  ) throws {
    let error = #expect(throws: MillraceError.self) { try LoadedConfiguration.load(text: text, file: "m.yaml") }
    let problem = try #require(error?.problems.first)
    #expect(problem.place?.hasPrefix(place) == true, "\(problem)")
    #expect(problem.description.contains(hint), "\(problem)")
  }

  @Test func `All mistakes are reported at once`() {
    let error = #expect(throws: MillraceError.self) {
      try LoadedConfiguration.load(
        text: "a: 1\nb: 2\ningress:\n  port: x\n", environment: ["MILLRACE_KAFKA_BOOTSTRAP": "x"])
    }
    #expect(error?.problems.count == 4)
    #expect(error?.description.contains("did you mean MILLRACE_KAFKA_BOOTSTRAP_SERVERS?") == true)
  }

  @Test func `The error for a broken file does not show its content`() {
    let error = #expect(throws: MillraceError.self) {
      try LoadedConfiguration.load(text: "kafka:\n  properties: {sasl.password: hunter2\n")
    }
    #expect(error?.description.contains("hunter2") == false)
  }

  @Test func `The error for a refused value does not show it`() {
    let error = #expect(throws: MillraceError.self) {
      try LoadedConfiguration.load(text: "kafka:\n  properties: {sasl.password: [hunter2]}\n")
    }
    #expect(error?.description.contains("hunter2") == false)
  }

  @Test func `The error for a missing file names it and the system's reason`() {
    let error = #expect(throws: MillraceError.self) {
      try LoadedConfiguration.load(path: "/nowhere/millrace.yaml", environment: [:])
    }
    #expect(error?.description.contains("/nowhere/millrace.yaml: cannot read it: No such file") == true)
  }

  @Test func `A variable names the file if the caller does not`() throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write("ingress: {port: 7}", to: "millrace.yaml")
    let loaded = try LoadedConfiguration.load(path: nil, environment: ["MILLRACE_CONFIG": file])
    #expect(loaded.configuration.ingress.port == 7)
    #expect(loaded.sources["ingress.port"] == .file(file, line: 1))
  }
}
