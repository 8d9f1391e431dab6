// The scenario of a rehearsal and the configuration of its processes.

import AppStore
import AppStoreSimulator

extension RehearsalEnvironment {
  static func scenario(_ settings: Settings, ingress: Int) -> String {
    let third = max(1, settings.refunds / 3)
    let moment = text(settings.lasting(.seconds(3)))
    return """
      clock: { origin: "2026-03-02T08:00:00Z", rate: \(settings.rate) }
      apps:
        - bundleId: \(Settings.bundleId)
          appAppleId: 1234567890
          environments: [Production]
          notifications: { Production: { url: "http://127.0.0.1:\(ingress)/v2" } }
          products:
            - { productId: \(Settings.monthly), price: 9990 }
            - { productId: \(Settings.yearly), period: P1Y, price: 79990 }
            - { productId: \(Settings.coins), type: consumable, price: 990 }
      world:
        customers:
          - { count: \(settings.size), products: [\(Settings.monthly)], storefronts: [USA, DEU, JPN] }
          - { count: \(max(1, settings.size / 100)), products: [\(Settings.monthly)], familyShared: true }
          - { count: \(third), products: [\(Settings.yearly)] }
          - { count: \(third), products: [\(Settings.yearly)], familyShared: true }
          - { count: \(max(1, settings.refunds - 2 * third)), products: [\(Settings.coins)], since: 60d }
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
    _ settings: Settings, _ directory: String, prefix: String, start: Timestamp, origin: Timestamp, api: Int,
    ingress: Int
  ) -> String {
    // If members die while they join, the group waits for them for the poll interval.
    let properties =
      settings.bootstrapServers == nil
      ? "{}"
      : "{ session.timeout.ms: \"6000\", heartbeat.interval.ms: \"500\", max.poll.interval.ms: \"12000\" }"
    let delays = settings.retryDelays.map { text($0) }.joined(separator: ", ")
    // Time limits use the scenario's time, so short real times become long ones.
    let worker = "handlerTimeout: 1h, drainTimeout: 10m, retryDelays: [\(delays)]"
    return """
      kafka:
        durability: relaxed # the embedded cluster has one broker and no topic settings
        properties: \(properties)
      clock: { origin: "\(origin.rfc3339)", rate: \(settings.rate), start: "\(start.rfc3339)" }
      topics: { directory: \(settings.topics), prefix: "\(prefix)", lanes: \(settings.lanes) }
      trust: { roots: [\(directory)/root.pem] }
      apps:
        - bundleId: \(Settings.bundleId)
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
        share: \(Settings.share)
        limitDivisor: \(settings.rate)
      workers:
        - { name: renewal-extensions, maximumAttempts: 24, \(worker) }
        - { name: refunds, \(worker) }
      ingress: { host: 127.0.0.1, port: \(ingress), deadline: 5m, headerTimeout: 1m, bodyTimeout: 1m }
      admin: { host: 127.0.0.1, port: 0 }

      """
  }
}
