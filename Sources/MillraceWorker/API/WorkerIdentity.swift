// One type can run as several workers. Each has its own consumer group, topics and ledger, so they do not delay each
// other.

public import MillraceCore
public import MillraceRecords

/// The identity that a worker type runs as.
public struct WorkerIdentity: Sendable, Hashable {
  /// The worker's name in topics, consumer group and metrics: 1 to 40 lower-case letters, digits and hyphens, starting
  /// with a letter.
  public var name: String
  /// The notification families that the worker reads.
  public var families: Set<NotificationFamily>
  /// The topics of events that an ``EventWorker`` reads, without the deployment's prefix.
  package var eventTopics: Set<String> = []
  /// The default settings, which the configuration can override.
  public var policy: WorkerPolicy

  /// Creates an identity.
  public init(name: String, families: Set<NotificationFamily>, policy: WorkerPolicy = WorkerPolicy()) {
    self.name = name
    self.families = families
    self.policy = policy
  }
}

extension NotificationWorker {
  /// The default identity.
  package static var identity: WorkerIdentity { WorkerIdentity(name: name, families: families, policy: policy) }

  /// The settings of this type's workers.
  package static var settingsForm: WorkerSettingsForm { settingsForm(named: name) }

  /// The settings of this type's workers, under a name such as `forward-<receiver>` in the reference.
  package static func settingsForm(named name: String) -> WorkerSettingsForm {
    WorkerSettingsForm(Settings.self, named: name, standard: policy, policy: ownPolicy) { runs(as: $0) }
  }

  private static func ownPolicy(of name: String, in configuration: MillraceConfiguration) -> WorkerPolicy? {
    do {
      return try identities(in: configuration).first { $0.name == name }?.policy
    } catch {
      // Loading the configuration reports invalid settings, and a configuration may have no worker of this type.
      return nil
    }
  }

  /// The default: one worker with the name, the families and the policy of the type.
  public static func identities(in configuration: MillraceConfiguration) throws -> [WorkerIdentity] { [identity] }
}

extension WorkerIdentity {
  /// A worker and its type.
  typealias Member = (type: any NotificationWorker.Type, identity: WorkerIdentity)

  /// Returns the workers of some types after checking their names.
  /// - Parameter names: The workers to return; empty: all.
  /// - Throws: ``MillraceError`` for a name that is not valid or occurs twice, and for a worker that does not exist.
  static func checked(
    _ types: [any NotificationWorker.Type], in configuration: MillraceConfiguration, only names: [String]
  ) throws -> [Member] {
    try checked(
      types.flatMap { type in try type.identities(in: configuration).map { (type: type, identity: $0) } }, only: names)
  }

  static func checked(_ members: [Member], only names: [String]) throws(MillraceError) -> [Member] {
    for name in names where !members.contains(where: { $0.identity.name == name }) {
      throw MillraceError(
        .configuration, "there is no worker `\(name)` to run",
        remedy: "choose from " + members.map(\.identity.name).joined(separator: ", "))
    }
    let members = names.isEmpty ? members : members.filter { names.contains($0.identity.name) }
    var seen: Set<String> = []
    for name in members.map(\.identity.name) {
      guard WorkerEntry.isName(name) else {
        throw MillraceError(
          .configuration, "the worker name `\(name)` is not valid",
          remedy: "use 1 to 40 lower-case letters, digits and hyphens, starting with a letter")
      }
      guard seen.insert(name).inserted else {
        throw MillraceError(.configuration, "two workers are named `\(name)`", remedy: "rename one of them")
      }
    }
    return members
  }
}
