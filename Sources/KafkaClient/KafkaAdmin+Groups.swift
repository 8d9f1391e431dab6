internal import CRDKafka

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A member of a consumer group.
public struct GroupMember: Sendable, Hashable {
  /// The id that the coordinator assigned when the member joined.
  public var id: String
  /// The name of a static member (`group.instance.id`).
  public var instance: String?
  /// The address from which the member joined.
  public var host: String
  /// The partitions that are assigned to the member.
  public var partitions: Set<TopicPartition> = []

  /// Creates a member.
  public init(id: String, instance: String?, host: String) {
    self.id = id
    self.instance = instance
    self.host = host
  }
}

extension KafkaAdmin {
  /// Returns the members of a group from its coordinator; none if the group does not exist.
  ///
  /// Needs the permission `Describe` on the group, which `Read` implies. An embedded cluster does not answer.
  /// - Throws: ``KafkaError``; ``KafkaError/isRetriable`` is true if the coordinator is unavailable or moving.
  public func members(ofGroup group: String, timeout: Duration) async throws(KafkaError) -> [GroupMember] {
    try await members(ofGroups: [group], timeout: timeout)[group]?.get() ?? []
  }

  /// Returns the members of several groups, like ``members(ofGroup:timeout:)``. A refused group has its own error.
  package func members(
    ofGroups groups: [String], timeout: Duration
  ) async throws(KafkaError) -> [String: Result<[GroupMember], KafkaError>] {
    let operation = "describe the \(groups.count == 1 ? "group" : "groups") \(groups.joined(separator: ", "))"
    return try await withClient { (client: inout AdminClient) throws(KafkaError) in
      var members: [String: Result<[GroupMember], KafkaError>] = [:]
      try AdminCall(client.handle, timeout, operation).run { rk, options, queue in
        let copies = groups.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        var names = copies.map { UnsafePointer<CChar>($0) }
        rd_kafka_DescribeConsumerGroups(rk, &names, names.count, options, queue)
      } results: { event in
        var count = 0
        let groups = rd_kafka_DescribeConsumerGroups_result_groups(
          rd_kafka_event_DescribeConsumerGroups_result(event), &count)
        for group in UnsafeBufferPointer(start: groups, count: count) {
          guard let group else { continue }
          let name = rd_kafka_ConsumerGroupDescription_group_id(group).map { String(cString: $0) } ?? ""
          if let error = rd_kafka_ConsumerGroupDescription_error(group) {
            let code = rd_kafka_error_code(error)
            members[name] =
              code == RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND
              ? .success([]) : .failure(KafkaError(code, operation: "describe the group \(name)"))
            continue
          }
          members[name] = .success(
            (0..<rd_kafka_ConsumerGroupDescription_member_count(group)).compactMap { index in
              rd_kafka_ConsumerGroupDescription_member(group, index).map { GroupMember($0) }
            })
        }
        return nil
      }
      return members
    }
  }
}

extension GroupMember {
  fileprivate init(_ native: OpaquePointer) {
    func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }
    self.init(
      id: text(rd_kafka_MemberDescription_consumer_id(native)) ?? "",
      instance: text(rd_kafka_MemberDescription_group_instance_id(native)),
      host: text(rd_kafka_MemberDescription_host(native)) ?? "")
    let assignment = rd_kafka_MemberDescription_assignment(native)
    guard let list = assignment.flatMap({ rd_kafka_MemberAssignment_partitions($0) })?.pointee else { return }
    for element in UnsafeBufferPointer(start: list.elems, count: Int(list.cnt)) {
      guard let topic = text(element.topic) else { continue }
      partitions.insert(TopicPartition(topic: topic, partition: element.partition))
    }
  }
}
