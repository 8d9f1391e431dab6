// One type may run as several workers: under other names it has groups, topics and ledgers of its own, so that none of
// them waits for another.

/// As what a worker runs.
public struct WorkerIdentity: Sendable, Hashable {
  /// Names it in topics, group and metrics: 1 to 40 lower-case letters, digits and hyphens.
  public var name: String
  /// What it reads.
  public var families: Set<NotificationFamily>
  /// How it is run where the configuration says nothing.
  public var policy: WorkerPolicy

  /// A worker of this name.
  public init(name: String, families: Set<NotificationFamily>, policy: WorkerPolicy = WorkerPolicy()) {
    self.name = name
    self.families = families
    self.policy = policy
  }
}

extension NotificationWorker {
  /// As what it runs when it does not say otherwise.
  package static var identity: WorkerIdentity { WorkerIdentity(name: name, families: families, policy: policy) }

  /// One worker, with the name, the families and the policy of the type.
  public static func identities(in configuration: MillraceConfiguration) throws -> [WorkerIdentity] { [identity] }

  /// The identities, checked.
  /// - Throws: ``MillraceError`` for names that are none, or one that occurs twice; what `identities(in:)` throws.
  static func checkedIdentities(in configuration: MillraceConfiguration) throws -> [WorkerIdentity] {
    let identities = try identities(in: configuration)
    var seen: Set<String> = []
    for name in identities.map(\.name) {
      guard WorkerTopics.isName(name) else {
        throw MillraceError(
          .configuration, "a worker called `\(name)`", remedy: "use 1 to 40 lower-case letters, digits and hyphens")
      }
      guard seen.insert(name).inserted else {
        throw MillraceError(.configuration, "two workers called `\(name)`", remedy: "rename one")
      }
    }
    return identities
  }
}
