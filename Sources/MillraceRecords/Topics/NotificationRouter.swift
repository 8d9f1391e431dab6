public import AppStore
public import MillraceCore

/// Routes notification types to topics as the topic files declare. A type that no file names goes to the topic for
/// unrecognized types.
public struct NotificationRouter: Sendable, Hashable {
  private let v2: [NotificationTypeV2: String]
  private let v1: [NotificationTypeV1: String]
  /// The topic of types that no file names, by its name in Kafka.
  public let unrecognized: String

  /// Creates the routes that `topics` declare.
  ///
  /// - Throws: ``MillraceError`` if a type has two topics, or if unrecognized types have none or two.
  public init(_ topics: [TopicDefinition]) throws(MillraceError) {
    let conflicts = Self.conflicts(in: topics.map { (file: $0.name, topic: $0) })
    guard conflicts.isEmpty, let unrecognized = topics.first(where: \.notifications.unrecognized) else {
      throw MillraceError(.topics, conflicts)
    }
    var v2: [NotificationTypeV2: String] = [:]
    var v1: [NotificationTypeV1: String] = [:]
    for topic in topics {
      for type in topic.notifications.v2 { v2[type] = topic.topic }
      for type in topic.notifications.v1 { v1[type] = topic.topic }
    }
    self.v2 = v2
    self.v1 = v1
    self.unrecognized = unrecognized.topic
  }

  /// Returns the topic of a version 2 notification, by its name in Kafka.
  public func topic(for type: NotificationTypeV2?) -> String {
    type.flatMap { v2[$0] } ?? unrecognized
  }

  /// Returns the topic of a version 1 notification, by its name in Kafka.
  public func topic(for type: NotificationTypeV1?) -> String {
    type.flatMap { v1[$0] } ?? unrecognized
  }

  /// Returns the conflicts between the declarations.
  static func conflicts(in declared: [(file: String, topic: TopicDefinition)]) -> [MillraceError.Problem] {
    var owners: [String: String] = [:]
    var problems: [MillraceError.Problem] = []
    for (file, topic) in declared {
      let types =
        topic.notifications.v2.map { "v2 \($0.rawValue)" } + topic.notifications.v1.map { "v1 \($0.rawValue)" }
        + (topic.notifications.unrecognized ? ["unrecognized"] : [])
      for type in types {
        if let owner = owners[type] {
          problems.append(
            .init("\(type) is \(owner == file ? "listed twice" : "also in \(owner)")", at: file, remedy: "keep one"))
        } else {
          owners[type] = file
        }
      }
    }
    if owners["unrecognized"] == nil {
      problems.append(
        .init(
          "no topic takes unrecognized notifications", at: "notifications.unrecognized",
          remedy: "set it to true in one topic file"))
    }
    return problems
  }
}
