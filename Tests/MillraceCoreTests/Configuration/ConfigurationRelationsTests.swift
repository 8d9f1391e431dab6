import Testing

@testable import MillraceCore

@Suite struct ConfigurationRelationsTests {
  private static let broken: [(text: String, hint: String)] = [
    ("apps: [{bundleId: a}]", "Apple ID"),
    ("apps: [{environments: [Sandbox]}]", "no bundleId"),
    ("apps: [{bundleId: a, environments: []}]", "no environments"),
    ("apps: [{bundleId: a, environments: [Sandbox]}, {bundleId: a, environments: [Sandbox]}]", "two apps"),
    ("apps: [{bundleId: a, environments: [Sandbox], api: {keyId: 2X9R4HXF34}}]", "incomplete"),
    ("kafka: {properties: {message.timeout.ms: 2h}}", "message.timeout.ms"),
    ("kafka: {properties: {delivery.timeout.ms: 0}}", "delivery.timeout.ms"),
    ("kafka: {properties: {acks: 1}}", "acks"),
    ("kafka: {properties: {request.required.acks: 1}}", "request.required.acks"),
    ("kafka: {properties: {bootstrap.servers: x}}", "bootstrap.servers"),
    ("kafka: {properties: {a: b}, propertyFiles: {a: f}}", "also set in kafka.properties"),
    ("kafka: {properties: {security.protokol: SSL}}", "did you mean security.protocol?"),
    ("kafka: {properties: {zookeeper: x}}", "librdkafka has no property `zookeeper`"),
    ("kafka: {propertyFiles: {sasl.pasword: f}}", "kafka.propertyFiles (millrace.yaml:1)"),
    ("kafka: {bootstrapServers: embedded, commit: transactional}", "no transactions"),
    ("kafka: {oauth: {tokenFile: f}}", "kafka.oauth has no method"),
    ("kafka: {oauth: {method: oidc, clientId: c, clientSecretFile: s}}", "kafka.oauth.tokenURL"),
    ("kafka: {oauth: {method: file, tokenFile: f, region: r}}", "kafka.oauth.region"),
    ("kafka: {oauth: {method: aws}}", "kafka.oauth.region"),
    ("kafka: {oauth: {method: aws, region: r, accessKeyId: a}}", "kafka.oauth.secretAccessKeyFile"),
    ("kafka: {oauth: {method: file, tokenFile: f}, properties: {sasl.mechanism: PLAIN}}", "also set by kafka.oauth"),
    ("kafka: {bootstrapServers: embedded, oauth: {method: file, tokenFile: f}}", "no authentication"),
    ("kafka: {oauth: {method: file, tokenFile: f}, properties: {security.protocol: SSL}}", "tokens need SASL"),
    ("kafka: {oauth: {method: file, tokenFile: f, extensions: {pool-1: x}}}", "the extension pool-1"),
    ("workers: {refunds: {retryDelays: [1m, 10s]}}", "workers.refunds.retryDelays"),
    ("workers: {w: {families: [refunds]}}", "families but no handler"),
    ("workers: {w: {families: [refunds], handler: {secretFile: s}}}", "handler.url"),
    ("workers: {w: {families: [refunds], handler: {url: 'http://a'}}}", "handler.secretFile"),
    ("workers: {w: {handler: {url: 'http://a', secretFile: s}}}", "no families"),
    ("workers: {w: {families: [subscription], handler: {url: 'http://a', secretFile: s}}}", "mean subscriptions?"),
    ("workers: {refunds: {families: [refunds], handler: {url: 'http://a', secretFile: s}}}", "ships with Millrace"),
    ("workers: {forward-a: {families: [refunds], handler: {url: 'http://a', secretFile: s}}}", "ships with Millrace"),
    ("workers: {w: {families: [refunds], handler: {url: 'http://u:p@a', secretFile: s}}}", "password"),
    ("workers: {w: {families: [refunds], handler: {url: 'https://a', secretFile: s, keyFile: k}}}", "certificateFile"),
    (
      "workers: {w: {families: [refunds], handler: {url: 'http://a', secretFile: s, certificateAuthorityFile: c}}}",
      "no effect on a URL with http"
    ),
    (
      "workers: {w: {families: [refunds], handlerTimeout: 30s, handler: {url: 'http://a', secretFile: s}}}",
      "handlerTimeout leaves no time"
    ),
    ("workers: {w: {families: [refunds], handler: {url: 'http://a', secretFile: s}, settings: {a: b}}}", "no settings"),
    ("ingress: {tls: {certificate: c}}", "ingress.tls.key"),
    ("alerts: {webhook: {url: 'https://a', urlFile: f}}", "keep one of them"),
    ("alerts: {webhook: {url: 'https://u:p@a'}}", "the URL contains a password"),
    ("ingress: {tls: {key: k}}", "ingress.tls.certificate"),
    ("ingress: {bodyTimeout: 20s}", "ingress.bodyTimeout"),
    ("ingress: {port: 9090}", "same port"),
    ("clock: {rate: 60}", "clock.rate"),
    ("clock: {origin: 2026-01-01T00:00:00Z}", "clock.origin"),
    ("clock: {rate: 2}\nappStore: {productionURL: 'http://localhost:1'}", "appStore.sandboxURL"),
    ("clock: {rate: 2}\nappStore: {productionURL: 'http://u@API.Apple.com:1/x', sandboxURL: 'http://l'}", "Apple's"),
  ]

  @Test(arguments: broken)
  func `A violated relation between keys is refused and the key is named`(text: String, hint: String) {
    let error = #expect(throws: MillraceError.self) { try LoadedConfiguration.load(text: text) }
    #expect(error?.area == .configuration)
    #expect(error?.description.contains(hint) == true, "\(error?.description ?? "")")
  }

  @Test(arguments: [
    "apps: [{bundleId: a, appAppleId: 1}]",
    "apps: [{bundleId: a, environments: [Sandbox]}, {bundleId: b, environments: [Sandbox]}]",
    "kafka: {properties: {message.timeout.ms: 9000}}",
    "kafka: {properties: {message.timeout.ms: 180000}}",
    "kafka: {properties: {acks: all}}",
    "kafka: {properties: {sasl.mechanism: PLAIN, ssl.ca.location: /ca.pem, linger.ms: 5, compression.codec: lz4}}",
    """
    topics: {directory: own}
    workers: {w: {families: [winback], handler: {url: 'http://a', secretFile: s}}}
    """,
    "kafka: {bootstrapServers: embedded, commit: at-least-once}",
    "ingress: {tls: {certificate: c, key: k}}",
    "workers: {refunds: {retryDelays: [10s, 1m]}}",
    "workers: {w: {families: [refunds], handler: {url: 'http://a', secretFile: s}}}",
    "workers: {w: {families: [refunds], handlerTimeout: 31s, handler: {url: 'http://a', secretFile: s}}}",
    """
    workers:
      w: {families: [refunds], handler: {url: 'https://a', secretFile: s, certificateFile: c, keyFile: k}}
    """,
    "ingress: {port: 0}\nadmin: {port: 0}",
    "clock: {rate: 1}",
    "clock: {rate: 60}\nappStore: {productionURL: 'http://localhost:1', sandboxURL: 'http://notapple.com:2'}",
  ])
  func `Configurations that satisfy the relations are accepted`(text: String) throws {
    _ = try LoadedConfiguration.load(text: text)
  }
}
