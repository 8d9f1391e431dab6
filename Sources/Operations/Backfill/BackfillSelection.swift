// The notifications that a run fetches from Apple's history: conversion from flags, to requests, and to and from JSON.

package import AppStore
package import MillraceCore

/// One app in one environment. Apple keeps one history for each.
package struct BackfillTarget: Sendable, Hashable, CustomStringConvertible {
  /// The app's bundle ID.
  package var bundleId: String
  /// The environment.
  package var environment: AppStoreEnvironment

  /// Creates a target.
  package init(bundleId: String, environment: AppStoreEnvironment) {
    self.bundleId = bundleId
    self.environment = environment
  }

  /// The app and the environment.
  package var description: String { "\(bundleId) in \(environment)" }
}

/// The notifications that a run fetches.
package struct BackfillSelection: Sendable, Hashable {
  /// The apps and environments.
  package var targets: [BackfillTarget]
  /// The start of the time range.
  package var from: Timestamp
  /// The end of the time range.
  package var to: Timestamp
  /// Only this type; nil for all types.
  package var type: NotificationTypeV2?
  /// Only this subtype; nil for all subtypes.
  package var subtype: Subtype?
  /// Only notifications about the customer of this transaction; nil for all customers.
  package var transactionId: String?
  /// Only notifications that Apple failed to deliver or has not delivered yet.
  package var onlyFailures = false

  /// Selects all notifications of a time range.
  package init(targets: [BackfillTarget], from: Timestamp, to: Timestamp) {
    self.targets = targets
    self.from = from
    self.to = to
  }

  /// The request to Apple for a part of the time range.
  package func request(from: Timestamp, to: Timestamp) -> NotificationHistoryRequest {
    var request = NotificationHistoryRequest(startDate: from, endDate: to)
    request.notificationType = type
    request.notificationSubtype = subtype
    request.transactionId = transactionId
    if onlyFailures { request.onlyFailures = true }
    return request
  }

  /// Rejects a selection that Apple would refuse, before the first request.
  /// - Throws: ``OperationError`` that names the flag and the bound.
  package func check(now: Timestamp) throws(OperationError) {
    for target in targets {
      let earliest = now - NotificationHistoryRequest.window(of: target.environment)
      guard from >= earliest else {
        let days = NotificationHistoryRequest.window(of: target.environment).components.seconds / 86_400
        let both = Set(targets.map(\.environment)).count > 1
        throw OperationError(
          .usage, "\(from.rfc3339) is before the \(days) days that Apple keeps in \(target.environment)",
          at: "--from",
          remedy: "start at \((earliest + .seconds(60)).rfc3339) or later"
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
  /// The selection as stored.
  package var json: JSONObject {
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

  /// Reads a stored selection; nil if a value is missing.
  package init?(json: JSONObject) {
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

  /// The selection as text.
  package var sentence: String {
    let what: [String?] = [
      type?.rawValue, subtype?.rawValue, transactionId.map { "customer of \($0)" }, onlyFailures ? "failures" : nil,
    ]
    let words = what.compactMap(\.self)
    return (words.isEmpty ? "everything" : words.joined(separator: ", "))
      + " from \(from.rfc3339) to \(to.rfc3339), " + targets.map(\.description).joined(separator: ", ")
  }
}

/// The flags of `millrace backfill`.
package struct BackfillFlags: Sendable, Hashable {
  /// `--from`
  package var from: StartArgument?
  /// `--to`
  package var to: TimeArgument?
  /// `--type`
  package var type: String?
  /// `--subtype`
  package var subtype: String?
  /// `--transaction`
  package var transaction: String?
  /// `--only-failures`
  package var onlyFailures = false
  /// `--app`
  package var app: String?
  /// `--environment`
  package var environment: String?

  /// No flags.
  package init() {}

  /// Whether no flag is set; a continued run then uses its stored selection.
  package var isEmpty: Bool { self == BackfillFlags() }

  /// The selection, checked against Apple's rules.
  ///
  /// - Throws: ``OperationError`` that names the flag; `MillraceError` that names the configuration key.
  package func selection(in configuration: MillraceConfiguration, now: Timestamp) throws -> BackfillSelection {
    guard let from else {
      throw OperationError(
        .usage, "the flag is missing", at: "--from", remedy: "say since when: \(StartArgument.forms)")
    }
    let targets = Self.targets(of: try apps(in: configuration))
    // The oldest that Apple keeps, with a minute until the first request.
    let window = targets.map { NotificationHistoryRequest.window(of: $0.environment) }.min() ?? .zero
    var selection = BackfillSelection(
      targets: targets, from: from.time(at: now) ?? now - window + .seconds(60), to: to?.time(at: now) ?? now)
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

  /// The apps that `--app` selects: the named one, else all with credentials and the environment.
  package func apps(in configuration: MillraceConfiguration) throws -> [APIApp] {
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

  /// The histories of the apps: in the named environment, else in all environments of each app.
  package static func targets(of apps: [APIApp]) -> [BackfillTarget] {
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
      .usage, "\"\(name)\" is not a value that Apple documents", at: flag,
      remedy: nearest.map { "did you mean \($0)?" } ?? "spell it as Apple does, such as \(all[0].rawValue)")
  }
}

extension JSONObject {
  /// The member with the given name; nil if it is missing or of another type.
  func value<Value: JSONRepresentable>(_ name: String) -> Value? { self[name].flatMap { Value(jsonValue: $0) } }
}
