// Where answers to CONSUMPTION_REQUEST come from.

public import AppStore

/// `consumption`: whom `millrace-consumption` asks.
public struct ConsumptionSettings: Sendable, Hashable {
  /// Who may know.
  public enum Provider: String, Sendable, Hashable, CaseIterable {
    /// The team's own system.
    case http
    /// The compacted topic ``answersTopic``.
    case topic
    /// `consumptionRules`.
    case rules
  }

  /// The team's own system.
  public struct HTTP: Sendable, Hashable {
    /// Where the question is posted to.
    public var url: String?
    /// Files of the secrets that sign it; several during a rotation.
    public var secretFiles: [String] = []
    /// How long an answer may take.
    public var timeout = Duration.seconds(5)

    /// The secrets, read now.
    /// - Throws: ``MillraceError`` that names the file.
    package func secrets() throws(MillraceError) -> [[UInt8]] {
      var secrets: [[UInt8]] = []
      for file in secretFiles {
        do {
          secrets.append(try SecretFile(file).withBytes { Array($0) })
        } catch {
          throw error.under(key: "consumption.http.secretFiles")
        }
      }
      return secrets
    }
  }

  /// What the team writes down beforehand, keyed by transaction or customer; without the deployment's prefix.
  public static let answersTopic = "appstore.consumption-answers"

  /// In the order they are asked; the first that has an answer decides.
  public var providers: [Provider] = []
  /// The team's own system.
  public var http = HTTP()

  /// Nobody.
  public init() {}
}

/// `consumptionRules[]`: what is answered by product, type and reason. The first rule that fits answers.
public struct ConsumptionRule: Sendable, Hashable {
  /// The app; nil: any.
  public var bundleId: String?
  /// The product, or the beginning of its name and `*`; nil: any.
  public var product: String?
  /// The product's type; nil: any.
  public var type: ProductType?
  /// The customer's reasons; empty: any, and none.
  public var reasons: [ConsumptionRequestReason] = []
  /// Whether customers agreed, by the team's terms, that this is told to Apple.
  public var customerConsented = false
  /// Whether the purchase was delivered and works.
  public var deliveryStatus: DeliveryStatus?
  /// Whether the customer could see or try it before the purchase.
  public var sampleContentProvided = false
  /// How much was consumed, in thousandths of a percent.
  public var consumptionPercentage: Int?
  /// What the team would like Apple to decide.
  public var refundPreference: RefundPreference?

  /// Withholds everything.
  public init() {}

  /// What it says of a purchase, with what Apple demands of one of that type.
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
  /// Fills in what Apple demands and leaves no choice about: 0 percent of what was not delivered.
  package mutating func setImpliedPercentage(of type: ProductType?) {
    guard type != .autoRenewableSubscription, json["consumptionPercentage"] == nil, let deliveryStatus,
      deliveryStatus.isKnown, deliveryStatus != .delivered
    else { return }
    consumptionPercentage = 0
  }
}

extension ConsumptionRule {
  static let table = SettingTable<ConsumptionRule>(settings: [
    Setting("bundleId", \.bundleId, .nonEmptyText, "The app; unset: any."),
    Setting("product", \.product, .nonEmptyText, "The product, or the beginning of its name and `*`; unset: any."),
    Setting("type", \.type, .openEnum("product type"), "The product's type, as Apple writes it; unset: any."),
    Setting(
      "reasons", \.reasons, .list(of: .openEnum("reason")),
      "`consumptionRequestReason`, as Apple writes it; empty: any, and none."),
    Setting(
      "customerConsented", \.customerConsented, .boolean,
      "Whether customers agreed, by your terms, that this is told to Apple; `false`: nothing is sent."),
    Setting(
      "deliveryStatus", \.deliveryStatus, .openEnum("delivery status"), "`deliveryStatus`, as Apple writes it."),
    Setting(
      "sampleContentProvided", \.sampleContentProvided, .boolean,
      "Whether the customer could see or try it before the purchase."),
    Setting(
      "consumptionPercentage", \.consumptionPercentage, .integer(0...100_000),
      "How much was consumed, in thousandths of a percent; never of an auto-renewable subscription."),
    Setting(
      "refundPreference", \.refundPreference, .openEnum("refund preference"),
      "`refundPreference`, as Apple writes it."),
  ])
}

extension SettingCodec where Value: OpenEnum, Value.RawValue == String {
  /// A documented value of one of Apple's enums.
  static func openEnum(_ kind: String) -> Self {
    scalar(
      kind, expected: "one of " + Value.allKnown.map(\.rawValue).joined(separator: ", "),
      parse: { text in
        let value = Value(rawValue: text)
        return value.isKnown ? value : nil
      }, render: { $0.rawValue })
  }
}

extension MillraceConfiguration {
  /// The relations of `consumption` and `consumptionRules[]` that do not hold.
  func brokenConsumptionRelations(
    _ problem: (_ what: String, _ key: String, _ remedy: String) -> MillraceError.Problem
  ) -> [MillraceError.Problem] {
    var problems: [MillraceError.Problem] = []
    let (providers, http) = (consumption.providers, consumption.http)
    if Set(providers).count < providers.count {
      problems.append(problem("a provider is asked twice", "consumption.providers", "name each once"))
    }
    if providers.contains(.http), http.url == nil {
      problems.append(
        problem(
          "a provider without an address", "consumption.http.url",
          "name the URL that the question is posted to, or take `http` out of consumption.providers"))
    }
    if let url = http.url, Self.authority(of: url).contains("@") {
      problems.append(
        problem(
          "a URL with a password in it", "consumption.http.url", "take it out; the question is signed, see secretFiles")
      )
    }
    if providers.contains(.http), http.secretFiles.isEmpty {
      problems.append(
        problem(
          "nothing to sign the question with", "consumption.http.secretFiles",
          "name a file with a secret that your endpoint has too"))
    }
    if providers.contains(.rules), consumptionRules.isEmpty {
      problems.append(
        problem("no rules to answer by", "consumptionRules", "write one, or take `rules` out of consumption.providers"))
    }
    for (index, rule) in consumptionRules.enumerated() where rule.customerConsented {
      let broken = rule.request(of: rule.type).violations(productType: rule.type)
      for violation in broken {
        problems.append(
          problem("an answer that Apple would refuse: \(violation)", "consumptionRules[\(index)]", "change the rule"))
      }
    }
    return problems
  }
}
