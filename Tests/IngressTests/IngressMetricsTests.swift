import AppStore
import AppStoreSigning
import Crypto
import MillraceCore
import Testing

@testable import Ingress

@Suite(.timeLimit(.minutes(15))) struct IngressMetricsTests {
  @Test func `every configured app and environment has a counter that starts at 0`() {
    let registry = PrometheusRegistry()
    var app = AppSettings()
    app.bundleId = "com.example.app"
    app.environments = [.production, .sandbox]
    _ = IngressMetrics(factory: registry, apps: [app])
    for environment in ["Production", "Sandbox"] {
      let series = #"millrace_ingress_app_accepted_total{app="com.example.app",environment="\#(environment)"} 0"#
      #expect(registry.render().contains(series))
    }
  }

  @Test func `only a genuine notification counts for its app and exports its leaf certificate`()
    async throws
  {
    let fixture = try IngressFixture()
    let chain = fixture.chain
    var samples = SampleNotifications(chain: chain, app: fixture.app, seed: 7)
    let genuine = try samples.next(SampleKind(.didRenew), signedDate: IngressFixture.signedDate)
    let foreign = try SigningChain.generate(
      notBefore: IngressFixture.signedDate, notAfter: IngressFixture.signedDate + .seconds(86_400))
    var forgeries = SampleNotifications(chain: foreign, app: fixture.app, seed: 8)
    let forged = try forgeries.next(SampleKind(.didRenew), signedDate: IngressFixture.signedDate)
    try await fixture.run { (ingress) async throws in
      for collector in ingress.server.collectors { ingress.metrics.add(collector) }
      let counted = #"millrace_ingress_app_accepted_total{app="com.example.app",environment="Production"} "#
      let leaf = "millrace_ingress_apple_certificate_end_seconds{leaf="
      #expect(try await ingress.post(forged.body).status == 503)
      #expect(ingress.metrics.render().contains(counted + "0"))
      #expect(!ingress.metrics.render().contains(leaf))
      #expect(try await ingress.post(genuine.body).status == 200)
      #expect(ingress.metrics.render().contains(counted + "1"))
      let fingerprint = SHA256.hash(data: chain.leafDER).prefix(8).map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }.joined()
      #expect(ingress.metrics.render().contains(leaf + "\"\(fingerprint)\"} "))
      // Without TLS the ingress has no certificate of its own.
      #expect(!ingress.metrics.render().contains(IngressServer.certificateEndName))
    }
  }
}
