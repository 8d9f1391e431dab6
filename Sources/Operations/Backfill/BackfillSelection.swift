// What a run fetches from Apple's notification history: words of a command line to Apple's values, and back to JSON.

public import AppStore
public import Millrace

/// One app in one environment: what Apple keeps a history of.
public struct BackfillTarget: Sendable, Hashable, CustomStringConvertible {
  /// The app.
  public var bundleId: String
  /// Its environment.
  public var environment: AppStoreEnvironment

  /// An app in an environment.
  public init(bundleId: String, environment: AppStoreEnvironment) {
    self.bundleId = bundleId
    self.environment = environment
  }

  /// App and environment.
  public var description: String { "\(bundleId) in \(environment)" }
}

/// Which notifications a run fetches.
public struct BackfillSelection: Sendable, Hashable {
  /// Of which apps and environments.
  public var targets: [BackfillTarget]
  /// From when on.
  public var from: Timestamp
  /// Until when.
  public var to: Timestamp
  /// Only this type.
  public var type: NotificationTypeV2?
  /// Only this subtype.
  public var subtype: Subtype?
  /// Only those about the customer of this transaction.
  public var transactionId: String?
  /// Only what Apple could not deliver, or not yet.
  public var onlyFailures = false

  /// All notifications of a time.
  public init(targets: [BackfillTarget], from: Timestamp, to: Timestamp) {
    self.targets = targets
    self.from = from
    self.to = to
  }

  /// What Apple is asked for a part of the time.
  public func request(from: Timestamp, to: Timestamp) -> NotificationHistoryRequest {
    var request = NotificationHistoryRequest(startDate: from, endDate: to)
    request.notificationType = type
    request.notificationSubtype = subtype
    request.transactionId = transactionId
    if onlyFailures { request.onlyFailures = true }
    return request
  }

  /// Finds what Apple would refuse, before anything is asked.
  /// - Throws: ``OperationError`` that names the flag and the bound.
  public func check(now: Timestamp) throws(OperationError) {
    for target in targets {
      let earliest = now - NotificationHistoryRequest.window(of: target.environment)
      guard from >= earliest else {
        let days = NotificationHistoryRequest.window(of: target.environment).components.seconds / 86_400
        let both = Set(targets.map(\.environment)).count > 1
        throw OperationError(
          .usage, "\(from.rfc3339) is earlier than the \(days) days that Apple keeps in \(target.environment)",
          at: "--from",
          remedy: "begin at \((earliest + .seconds(60)).rfc3339) or later"
            + (both ? ", or choose one --environment" : ""))
      }
      guard let violation = request(from: from, to: to).violations(in: target.environment, now: now).first else {
        continue
      }
      throw OperationError(
        .usage, "\(violation.rule.rawValue); \(violation.found)", at: Self.flags[violation.field] ?? violation.field,
        remedy: "see \(violation.page)")
    }
  }

  private static let flags = [
    "startDate": "--from", "endDate": "--to", "notificationType": "--type", "notificationSubtype": "--subtype",
    "transactionId": "--transaction",
  ]
}

extension BackfillSelection {
  /// The selection as it is kept.
  public var json: JSONObject {
    var json: JSONObject = [
      "targets": .array(
        targets.map { ["bundleId": .string($0.bundleId), "environment": .string($0.environment.rawValue)] }),
      "from": from.jsonValue, "to": to.jsonValue,
    ]
    json["type"] = type.map { .string($0.rawValue) }
    json["subtype"] = subtype.map { .string($0.rawValue) }
    json["transactionId"] = transactionId.map { .string($0) }
    if onlyFailures { json["onlyFailures"] = true }
    return json
  }

  /// Reads what was kept; nil where something is missing.
  public init?(json: JSONObject) {
    guard let from: Timestamp = json.value("from"), let to: Timestamp = json.value("to"),
      case .array(let list)? = json["targets"]
    else { return nil }
    let targets = list.compactMap { item -> BackfillTarget? in
      guard case .object(let target) = item, let bundleId: String = target.value("bundleId"),
        let environment: String = target.value("environment")
      else { return nil }
      return BackfillTarget(bundleId: bundleId, environment: AppStoreEnvironment(rawValue: environment))
    }
    guard !targets.isEmpty, targets.count == list.count else { return nil }
    self.init(targets: targets, from: from, to: to)
    type = (json.value("type") as String?).map { NotificationTypeV2(rawValue: $0) }
    subtype = (json.value("subtype") as String?).map { Subtype(rawValue: $0) }
    transactionId = json.value("transactionId")
    onlyFailures = json.value("onlyFailures") ?? false
  }

  /// The selection in words.
  public var sentence: String {
    let what: [String?] = [
      type?.rawValue, subtype?.rawValue, transactionId.map { "customer of \($0)" }, onlyFailures ? "failures" : nil,
    ]
    let words = what.compactMap(\.self)
    return (words.isEmpty ? "everything" : words.joined(separator: ", "))
      + " from \(from.rfc3339) to \(to.rfc3339), " + targets.map(\.description).joined(separator: ", ")
  }
}

/// The flags of `millrace backfill`.
public struct BackfillFlags: Sendable, Hashable {
  /// `--from`
  public var from: String?
  /// `--to`
  public var to: String?
  /// `--type`
  public var type: String?
  /// `--subtype`
  public var subtype: String?
  /// `--transaction`
  public var transaction: String?
  /// `--only-failures`
  public var onlyFailures = false
  /// `--app`
  public var app: String?
  /// `--environment`
  public var environment: String?

  /// No flag.
  public init() {}

  /// Whether nothing is chosen: what is kept of a run decides.
  public var isEmpty: Bool { self == BackfillFlags() }

  /// What they choose, checked against Apple's rules.
  ///
  /// - Throws: ``OperationError`` that names the flag; `MillraceError` that names the key of the configuration.
  public func selection(in configuration: MillraceConfiguration, now: Timestamp) throws -> BackfillSelection {
    guard let from = try HistoryFilter.moment(from, "--from", now: now) else {
      throw OperationError(
        .usage, "it is missing", at: "--from", remedy: "say since when, such as 3d, 2026-01-31 or 2026-01-31T12:00:00Z")
    }
    let apps = try apps(in: configuration)
    var selection = BackfillSelection(
      targets: Self.targets(of: apps), from: from,
      to: try HistoryFilter.moment(to, "--to", now: now) ?? now)
    selection.type = try type.map { name throws(OperationError) in
      try Self.known(name, "--type", NotificationTypeV2.allKnown)
    }
    selection.subtype = try subtype.map { name throws(OperationError) in
      try Self.known(name, "--subtype", Subtype.allKnown)
    }
    selection.transactionId = transaction
    selection.onlyFailures = onlyFailures
    try selection.check(now: now)
    return selection
  }

  /// The apps that `--app` chooses: the one that is named, else all that have credentials and the environment.
  public func apps(in configuration: MillraceConfiguration) throws -> [APIApp] {
    let able = configuration.apps.filter { settings in
      settings.api.isComplete
        && (environment.map { name in settings.environments.contains { $0.rawValue == name } } ?? true)
    }
    guard app == nil, able.count > 1 else {
      return [
        try APIApp(app: app ?? able.first?.bundleId, environment: environment, in: configuration)
      ]
    }
    return try able.map { try APIApp(app: $0.bundleId, environment: environment, in: configuration) }
  }

  /// The histories of apps: of the environment that was named, else of all that an app has.
  public static func targets(of apps: [APIApp]) -> [BackfillTarget] {
    apps.flatMap { app in
      (app.environment.map { [$0] } ?? app.settings.environments).map {
        BackfillTarget(bundleId: app.settings.bundleId, environment: $0)
      }
    }
  }

  private static func known<Value: OpenEnum>(
    _ name: String, _ flag: String, _ all: [Value]
  ) throws(OperationError) -> Value where Value.RawValue == String {
    if let value = all.first(where: { $0.rawValue == name.uppercased() }) { return value }
    let nearest = NearestName.of(name.uppercased(), among: all.map(\.rawValue).sorted())
    throw OperationError(
      .usage, "Apple documents no \"\(name)\"", at: flag,
      remedy: nearest.map { "perhaps you mean \($0)" } ?? "spell it as Apple does, such as \(all[0].rawValue)")
  }
}

extension JSONObject {
  /// A member of a type; nil where it is missing or of another kind.
  func value<Value: JSONRepresentable>(_ name: String) -> Value? { self[name].flatMap { Value(jsonValue: $0) } }
}
