import Testing

@testable import MillraceCore

@Suite struct ConfigurationRenderingTests {
  private static let text = """
    kafka:
      bootstrapServers: a:9092
      properties: {sasl.username: millrace, sasl.mechanism: PLAIN}
    topics: {prefix: "weird # \\"prefix\\": "}
    trust: {roots: [a.pem, "b c.pem"]}
    apps:
      - bundleId: com.example.app
        environments: [Sandbox]
        sharedSecretFiles: [/run/secrets/v1]
      - bundleId: com.example.other
        appAppleId: 9
    clock: {origin: 2026-01-31T12:00:00Z, rate: 2.5}
    appStore: {productionURL: 'http://localhost:1', sandboxURL: 'http://localhost:2'}
    """

  @Test func `The printed configuration parses to the same configuration`() throws {
    let loaded = try LoadedConfiguration.load(text: Self.text)
    let again = try LoadedConfiguration.load(text: loaded.rendered())
    #expect(again.configuration == loaded.configuration)
    #expect(again.rendered().split(separator: "\n").count == loaded.rendered().split(separator: "\n").count)
  }

  @Test func `The printed defaults parse to the defaults`() throws {
    let loaded = try LoadedConfiguration.load(text: "")
    #expect(try LoadedConfiguration.load(text: loaded.rendered()).configuration == MillraceConfiguration())
  }

  @Test func `Every key is printed with its source`() throws {
    let loaded = try LoadedConfiguration.load(
      text: "ingress:\n  port: 1\n", file: "m.yaml", environment: ["MILLRACE_KAFKA_COMMIT": "transactional"])
    let lines = loaded.rendered().split(separator: "\n")
    for setting in MillraceConfiguration.table.settings {
      let name = setting.path.last ?? ""
      #expect(lines.contains { $0.contains("\(name):") && $0.contains("  # ") }, "\(setting.name)")
    }
    #expect(lines.contains { $0.contains("port: 1") && $0.hasSuffix("# m.yaml:2") })
    #expect(lines.contains { $0.contains("commit: transactional") && $0.hasSuffix("# MILLRACE_KAFKA_COMMIT") })
    #expect(lines.contains { $0.contains("deadline: 10s") && $0.hasSuffix("# default") })
  }

  @Test func `A worker is printed as it is in effect, and keys without a value only on request`() throws {
    let loaded = try LoadedConfiguration.load(
      text: "workers: {refunds: {maximumAttempts: 3}, winback: {}}", file: "m.yaml")
    var policy = WorkerPolicy()
    policy.retryDelays = [.seconds(60), .seconds(10)]
    let form = WorkerSettingsForm(
      NoSettings.self, named: "refunds",
      policy: { [policy] name, _ in
        name == "refunds" ? policy : nil
      }
    ) { $0 == "refunds" }
    let brief = loaded.rendered(workers: [form], withUnset: false)
    let lines = brief.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
    for line in [
      "maximumAttempts: 3 # m.yaml:1", "retryDelays: [10s, 1m] # default", "handlerTimeout: 1m # default",
      "ledgerHorizon: 8d # default", "drainTimeout: 20s # default", "ordering: free # default",
    ] {
      #expect(lines.filter { $0 == line }.count == 1, "\(line) in \(brief)")
    }
    #expect(!brief.contains("# unset") && !brief.contains("staticMember"))
    // The type of `winback` is not known here, so nothing is claimed about it.
    #expect(lines.last { $0.hasPrefix("winback:") } == "winback:")
    #expect(loaded.rendered(workers: [form]).contains("# staticMember:"))
    let again = try LoadedConfiguration.load(text: brief)
    #expect(again.configuration.workers["refunds"]?.retryDelays == [.seconds(10), .seconds(60)])
  }

  @Test(arguments: ["sasl.password", "ssl.key.password", "ssl.keystore.password", "sasl.oauthbearer.client.secret"])
  func `Secret properties are masked`(name: String) throws {
    let loaded = try LoadedConfiguration.load(text: "kafka: {properties: {\(name): hunter2}}")
    #expect(loaded.configuration.kafka.properties[name] == "hunter2")
    #expect(!loaded.rendered().contains("hunter2"))
    #expect(loaded.rendered().contains("\(name): \"********\""))
  }

  @Test func `Public properties are shown`() throws {
    let loaded = try LoadedConfiguration.load(text: "kafka: {properties: {ssl.ca.location: /ca.pem}}")
    #expect(loaded.rendered().contains("ssl.ca.location: /ca.pem"))
  }

  @Test func `Queries and user information of URLs are masked, including those in Kafka properties`() throws {
    let loaded = try LoadedConfiguration.load(
      text: """
        apps: [{bundleId: com.example.app, environments: [Sandbox]}]
        appStore: {sandboxURL: 'http://hunter:hunter2@localhost:2/a'}
        kafka:
          properties: {sasl.oauthbearer.token.endpoint.url: 'https://id.example.com/token?tenant=hunter4'}
        """)
    let rendered = loaded.rendered()
    #expect(!rendered.contains("hunter"))
    #expect(rendered.contains("http://********@localhost:2/a"))
    #expect(rendered.contains("https://id.example.com/token?********"))
  }

  @Test(arguments: [
    ("https://a.example.com/b/c", "https://a.example.com/b/c"), ("a:9092,b:9092", "a:9092,b:9092"),
    ("https://u:p@q@h?x", "https://********@h?********"), ("https://h#t", "https://h#********"),
    ("/run/secrets/v1", "/run/secrets/v1"), ("https://h/p@q?", "https://h/p@q?********"),
  ])
  func `A URL is shown without parts that may be credentials`(text: String, shown: String) {
    #expect(URLMask.text(text) == shown)
  }
}
