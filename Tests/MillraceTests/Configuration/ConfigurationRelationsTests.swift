import Testing

@testable import Millrace

@Suite struct ConfigurationRelationsTests {
  private static let broken: [(text: String, hint: String)] = [
    ("apps: [{bundleId: a}]", "Apple ID"),
    ("apps: [{environments: [Sandbox]}]", "without bundleId"),
    ("apps: [{bundleId: a, environments: []}]", "without environments"),
    ("apps: [{bundleId: a, environments: [Sandbox]}, {bundleId: a, environments: [Sandbox]}]", "two apps"),
    ("apps: [{bundleId: a, environments: [Sandbox], api: {keyId: k}}]", "incomplete"),
    ("kafka: {properties: {message.timeout.ms: 10000}}", "message.timeout.ms"),
    ("kafka: {properties: {delivery.timeout.ms: 0}}", "delivery.timeout.ms"),
    ("kafka: {properties: {acks: 1}}", "acks"),
    ("kafka: {properties: {request.required.acks: 1}}", "request.required.acks"),
    ("kafka: {properties: {bootstrap.servers: x}}", "bootstrap.servers"),
    ("kafka: {properties: {a: b}, propertyFiles: {a: f}}", "kafka.properties too"),
    ("kafka: {bootstrapServers: embedded, commit: transactional}", "no transactions"),
    ("forward: [{url: 'http://a'}]", "forward[0].name"),
    ("forward: [{name: a}]", "forward[0].url"),
    ("forward: [{name: a, url: 'http://a'}, {name: a, url: 'http://b'}]", "two receivers"),
    ("forward: [{name: a23456789012345678901234567890123, url: 'http://a'}]", "32 characters"),
    ("forward: [{name: a, url: 'https://me:secret@a/b'}]", "headerFiles"),
    ("forward: [{name: a, url: 'http://a', bundleIds: [b]}]", "b is not configured"),
    ("forward: [{name: a, url: 'http://a', environments: []}]", "without environments"),
    ("forward: [{name: a, url: 'http://a', restorePassword: true}]", "sharedSecretFiles"),
    ("forward: [{name: a, url: 'http://a', headers: {x: 1}, headerFiles: {x: f}}]", "headers too"),
    ("forward: [{name: a, url: 'http://a', headers: {Content-Type: x}}]", "set by Millrace"),
    ("consumption: {providers: [http], http: {secretFiles: [f]}}", "consumption.http.url"),
    ("consumption: {providers: [http], http: {url: 'http://a'}}", "consumption.http.secretFiles"),
    ("consumption: {http: {url: 'http://me:secret@a'}}", "a password"),
    ("consumption: {providers: [topic, topic]}", "asked twice"),
    ("consumption: {providers: [rules]}", "no rules"),
    ("consumptionRules: [{customerConsented: true}]", "deliveryStatus: must be given"),
    (
      "consumptionRules: [{customerConsented: true, deliveryStatus: DELIVERED, refundPreference: GRANT_PRORATED, "
        + "consumptionPercentage: 0}]", "GRANT_PRORATED"
    ),
    (
      "consumptionRules: [{customerConsented: true, deliveryStatus: DELIVERED, type: Auto-Renewable Subscription, "
        + "consumptionPercentage: 1}]", "auto-renewable"
    ),
    ("consumptionRules: [{type: Subscription}]", "Auto-Renewable Subscription"),
    ("ingress: {tls: {certificate: c}}", "ingress.tls.key"),
    ("ingress: {tls: {key: k}}", "ingress.tls.certificate"),
    ("ingress: {bodyTimeout: 20s}", "ingress.bodyTimeout"),
    ("ingress: {port: 9090}", "share a port"),
    ("clock: {rate: 60}", "clock.rate"),
    ("clock: {origin: 2026-01-01T00:00:00Z}", "clock.origin"),
    ("clock: {rate: 2}\nappStore: {productionURL: 'http://localhost:1'}", "appStore.sandboxURL"),
    ("clock: {rate: 2}\nappStore: {productionURL: 'http://u@API.Apple.com:1/x', sandboxURL: 'http://l'}", "Apple's"),
  ]

  @Test(arguments: broken)
  func `A relation that does not hold is refused with its key`(text: String, hint: String) {
    let error = #expect(throws: MillraceError.self) { try LoadedConfiguration.load(text: text) }
    #expect(error?.area == .configuration)
    #expect(error?.description.contains(hint) == true, "\(error?.description ?? "")")
  }

  @Test(arguments: [
    "apps: [{bundleId: a, appAppleId: 1}]",
    "apps: [{bundleId: a, environments: [Sandbox]}, {bundleId: b, environments: [Sandbox]}]",
    "kafka: {properties: {message.timeout.ms: 9000}}",
    "kafka: {properties: {acks: all}}",
    "kafka: {bootstrapServers: embedded, commit: at-least-once}",
    "ingress: {tls: {certificate: c, key: k}}",
    "forward: [{name: a, url: 'http://a'}, {name: b, url: 'http://a/@', headers: {x: 1}, headerFiles: {y: f}}]",
    "forward: [{name: a2345678901234567890123456789012, url: 'http://a'}]",
    "consumption: {providers: [http, topic], http: {url: 'http://a/b@c', secretFiles: [f]}}",
    "consumptionRules: [{}, {customerConsented: true, deliveryStatus: UNDELIVERED_OTHER, type: Consumable}]",
    "consumptionRules: [{customerConsented: true, deliveryStatus: DELIVERED, refundPreference: GRANT_FULL}]",
    "ingress: {port: 0}\nadmin: {port: 0}",
    "clock: {rate: 1}",
    "clock: {rate: 60}\nappStore: {productionURL: 'http://localhost:1', sandboxURL: 'http://notapple.com:2'}",
  ])
  func `Its twin that holds is accepted`(text: String) throws {
    _ = try LoadedConfiguration.load(text: text)
  }
}
