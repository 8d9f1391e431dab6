// The scenario of a rehearsal and the configuration of its processes.

import AppStore
import AppStoreSimulator

extension RehearsalEnvironment {
  static func scenario(_ settings: RehearsalSettings, ingress: Int) -> String {
    let third = max(1, settings.refunds / 3)
    let moment = text(settings.lasting(.seconds(3)))
    return """
      clock: { origin: "2026-03-02T08:00:00Z", rate: \(settings.rate) }
      apps:
        - bundleId: \(RehearsalSettings.bundleId)
          appAppleId: 1234567890
          environments: [Production]
          notifications: { Production: { url: "http://127.0.0.1:\(ingress)/v2" } }
          products:
            - { productId: \(RehearsalSettings.monthly), price: 9990 }
            - { productId: \(RehearsalSettings.yearly), period: P1Y, price: 79990 }
            - { productId: \(RehearsalSettings.coins), type: consumable, price: 990 }
      world:
        customers:
          - { count: \(settings.size), products: [\(RehearsalSettings.monthly)], storefronts: [USA, DEU, JPN] }
          - { count: \(max(1, settings.size / 100)), products: [\(RehearsalSettings.monthly)], familyShared: true }
          - { count: \(third), products: [\(RehearsalSettings.yearly)] }
          - { count: \(third), products: [\(RehearsalSettings.yearly)], familyShared: true }
          - { count: \(max(1, settings.refunds - 2 * third)), products: [\(RehearsalSettings.coins)], since: 60d }
      delivery: { duplicates: 0.04, duplicatesWithin: \(moment), reordered: 0.04, reorderedBy: \(moment) }
      server:
        remembers: successes
        limits: { divisor: \(settings.rate) }
        massExtension: { startDelay: \(moment), duration: \(moment), failureShare: 0.2 }

      """
  }

  private static func text(_ duration: Duration) -> String {
    "\(duration / .milliseconds(1))".prefix { $0 != "." } + "ms"
  }

  static func yaml(
    _ settings: RehearsalSettings, _ directory: String, start: Timestamp, origin: Timestamp, api: Int
  ) -> String {
    let delays = settings.retryDelays.map { text($0) }.joined(separator: ", ")
    // Time limits use the scenario's time, so short real times become long ones.
    let worker = "handlerTimeout: 1h, drainTimeout: 10m, retryDelays: [\(delays)]"
    return """
      clock: { origin: "\(origin.rfc3339)", rate: \(settings.rate), start: "\(start.rfc3339)" }
      trust: { roots: [\(directory)/root.pem] }
      apps:
        - bundleId: \(RehearsalSettings.bundleId)
          appAppleId: 1234567890
          environments: [Production]
          sharedSecretFiles: [\(directory)/shared-secret]
          api:
            issuerId: \(Scenario.madeKey.issuerId)
            keyId: \(Scenario.madeKey.keyId)
            privateKeyFile: \(directory)/simulator.p8
      appStore:
        productionURL: http://127.0.0.1:\(api)
        sandboxURL: http://127.0.0.1:\(api)
        share: \(RehearsalSettings.share)
        limitDivisor: \(settings.rate)
      workers:
        renewal-extensions: { maximumAttempts: 24, \(worker) }
        refunds: { \(worker) }
      ingress: { deadline: 5m, headerTimeout: 1m, bodyTimeout: 1m }

      """
  }
}
