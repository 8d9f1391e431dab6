// The sources of answers to CONSUMPTION_REQUEST.

package import AppStore
package import MillraceCore

/// The settings of the worker `consumption`: the sources that it asks.
package struct ConsumptionSettings: WorkerSettings, Hashable {
  /// A source of consumption data.
  package enum Provider: String, Sendable, Hashable, CaseIterable {
    /// The team's own system.
    case http
    /// The compacted topic ``answersTopic``.
    case topic
    /// ``ConsumptionSettings/rules``.
    case rules
  }

  /// The team's own system.
  package struct HTTP: Sendable, Hashable {
    /// The URL to which the question is posted.
    package var url: String?
    /// Files with the secrets that sign the question; several during a rotation.
    package var secretFiles: [String] = []
    /// How long to wait for an answer.
    package var timeout = Duration.seconds(5)

    /// Reads the secrets from their files.
    /// - Throws: ``MillraceError`` that names the file.
    package func secrets() throws(MillraceError) -> [[UInt8]] {
      var secrets: [[UInt8]] = []
      for file in secretFiles {
        do {
          secrets.append(try SecretFile(file).withBytes { Array($0) })
        } catch {
          throw error.under(key: "workers.consumption.settings.http.secretFiles")
        }
      }
      return secrets
    }
  }

  /// The topic of answers that the team writes in advance, keyed by transaction or customer. Without the deployment's
  /// prefix.
  package static let answersTopic = "appstore.consumption-answers"

  /// The sources in the order in which they are asked; the first that has an answer decides.
  package var providers: [Provider] = []
  /// The team's own system.
  package var http = HTTP()
  /// Answers by product, type and reason. The first rule that matches decides.
  package var rules: [ConsumptionRule] = []

  /// No sources.
  package init() {}
}

/// `rules[]`: an answer for a product, type and reason. The first rule that matches decides.
package struct ConsumptionRule: Sendable, Hashable {
  /// The app; nil: any.
  package var bundleId: String?
  /// The product, or a prefix of its identifier followed by `*`; nil: any.
  package var product: String?
  /// The product's type; nil: any.
  package var type: ProductType?
  /// The customer's reasons; empty: any, and none.
  package var reasons: [ConsumptionRequestReason] = []
  /// Whether customers consented to sharing this data with Apple.
  package var customerConsented = false
  /// Whether the purchase was delivered and works.
  package var deliveryStatus: DeliveryStatus?
  /// Whether the customer could see or try it before the purchase.
  package var sampleContentProvided = false
  /// How much was consumed, in thousandths of a percent.
  package var consumptionPercentage: Int?
  /// The decision that the team prefers.
  package var refundPreference: RefundPreference?

  /// A rule that matches every request and sends nothing.
  package init() {}

  /// Returns the answer for a purchase, with the percentage that Apple requires for its type.
  package func request(of type: ProductType?) -> ConsumptionRequest {
    var request = ConsumptionRequest()
    request.customerConsented = customerConsented
    request.deliveryStatus = deliveryStatus
    request.sampleContentProvided = sampleContentProvided
    request.consumptionPercentage = consumptionPercentage
    request.refundPreference = refundPreference
    request.setImpliedPercentage(of: type)
    return request
  }
}

extension ConsumptionRequest {
  /// Sets the percentage to 0 if the purchase was not delivered, as Apple requires.
  mutating func setImpliedPercentage(of type: ProductType?) {
    guard type != .autoRenewableSubscription, json["consumptionPercentage"] == nil, let deliveryStatus,
      deliveryStatus.isKnown, deliveryStatus != .delivered
    else { return }
    consumptionPercentage = 0
  }
}

extension ConsumptionRule {
  static let table = SettingTable<ConsumptionRule>([
    Setting("bundleId", \.bundleId, .nonEmptyText, "The app. Unset: any."),
    Setting(
      "product", \.product, .nonEmptyText, "The product, or a prefix of its identifier followed by `*`. Unset: any."),
    Setting("type", \.type, .openEnum("product type"), "The product type, as Apple spells it. Unset: any."),
    Setting(
      "reasons", \.reasons, .list(of: .openEnum("reason")),
      "Values of `consumptionRequestReason`, as Apple spells them. Empty: any value or none."),
    Setting(
      "customerConsented", \.customerConsented, .boolean,
      "Whether customers agreed, under your terms, to share this data with Apple. `false`: nothing is sent."),
    Setting(
      "deliveryStatus", \.deliveryStatus, .openEnum("delivery status"), "`deliveryStatus`, as Apple spells it."),
    Setting(
      "sampleContentProvided", \.sampleContentProvided, .boolean,
      "Whether the customer could see or try it before the purchase."),
    Setting(
      "consumptionPercentage", \.consumptionPercentage, .integer(0...100_000),
      "How much was consumed, in thousandths of a percent. Not allowed for an auto-renewable subscription."),
    Setting(
      "refundPreference", \.refundPreference, .openEnum("refund preference"),
      "`refundPreference`, as Apple spells it."),
  ])
}

extension ConsumptionSettings {
  /// The keys.
  package static let table = SettingTable<ConsumptionSettings>([
    Setting(
      "providers", \.providers, .list(of: .choice),
      "The sources of consumption data, in the order in which the worker asks: `http`, `topic`, `rules`."),
    Setting("http.url", \.http.url, .url, "The URL to which the question is posted; see docs/consumption.md."),
    Setting(
      "http.secretFiles", \.http.secretFiles, .list(of: .path),
      "Files with the secrets that sign the question (Standard Webhooks). List several during a rotation."),
    Setting(
      "http.timeout", \.http.timeout, .duration(.milliseconds(100) ... .seconds(3_600)),
      "How long to wait for an answer before asking again later. Keep it below the worker's `handlerTimeout`."),
    Setting(
      "rules", \.rules, entries: ConsumptionRule.table, standard: ConsumptionRule(),
      "Answers by product, type and reason. The first rule that matches decides."),
  ])

  /// The rules between the keys.
  package func problems(in configuration: MillraceConfiguration) -> [MillraceError.Problem] {
    var problems: [MillraceError.Problem] = []
    func check(_ holds: Bool, _ what: String, _ key: String, _ remedy: String) {
      if !holds { problems.append(.init(what, at: key, remedy: remedy)) }
    }
    check(Set(providers).count == providers.count, "a provider is listed twice", "providers", "list each provider once")
    if providers.contains(.http) {
      check(
        http.url != nil, "the provider `http` has no URL", "http.url",
        "set the URL to post to, or remove `http` from providers")
      check(
        !http.secretFiles.isEmpty, "there is no secret to sign the question", "http.secretFiles",
        "name a file with a secret that your endpoint also has")
    }
    let hasPassword = http.url.map { MillraceConfiguration.authority(of: $0).contains("@") } ?? false
    check(!hasPassword, "the URL contains a password", "http.url", "remove it; secretFiles sign the question")
    check(
      !providers.contains(.rules) || !rules.isEmpty, "there are no rules", "rules",
      "write one, or remove `rules` from providers")
    for (index, rule) in rules.enumerated() where rule.customerConsented {
      for violation in rule.request(of: rule.type).violations(productType: rule.type) {
        check(false, "Apple would refuse this answer: \(violation)", "rules[\(index)]", "change the rule")
      }
    }
    return problems
  }
}
