import MillraceCore
import MillraceRecords
import TestEnvironment
import Testing

@testable import Operations

@Suite struct ACLTextTests {
  private let processes: [ProcessAccess]

  init() throws {
    let refunds = DeployedWorker(
      name: "refunds", process: "millrace-refunds",
      inputs: ["t-appstore.notifications.refunds", "t-appstore.transactions.refunds"])
    let catalog = try TopicCatalog.load(directory: Project.path("topics"), prefix: "t-", lanes: 2)
    processes = try AccessPlan(workers: [refunds], catalog: catalog, prefix: "t-")
      .processes(["millrace-ingress", "millrace-refunds", "millrace-cli-quarantine"])
  }

  private func text(_ format: ACLText.Format, _ prefix: String = "shop-") throws -> String {
    try ACLText(format, principalPrefix: prefix, cluster: "events").text(processes)
  }

  @Test func `kafka-acls commands`() throws {
    let add =
      #"kafka-acls.sh --bootstrap-server "$BOOTSTRAP" ${COMMAND_CONFIG:+--command-config "$COMMAND_CONFIG"} --add"#
    let ingress = "\(add) --allow-principal User:shop-millrace-ingress"
    let refunds = "\(add) --allow-principal User:shop-millrace-refunds"
    let quarantine = "\(add) --allow-principal User:shop-millrace-cli-quarantine"
    let (read, write, settings) = ("--operation Read", "--operation Write", "--operation DescribeConfigs")
    let prefixed = "--resource-pattern-type prefixed"
    #expect(
      try text(.kafkaACLs) == """
        # Set BOOTSTRAP to the bootstrap servers, and COMMAND_CONFIG to a file with the client properties of an
        # administrator if the brokers require them.

        # millrace-ingress
        \(ingress) \(write) \(settings) --topic t-appstore.notifications. \(prefixed)
        \(ingress) \(write) --topic t-millrace.ingress
        \(ingress) \(write) \(settings) --topic t-millrace.quarantine

        # millrace-refunds
        \(refunds) \(write) --topic t-appstore.entitlements --topic t-appstore.events.refunds --topic t-millrace.audit
        \(refunds) \(read) \(settings) --topic t-appstore.notifications.refunds --topic t-appstore.transactions.refunds
        \(refunds) \(read) \(write) --topic t-millrace.control --topic t-millrace.operations
        \(refunds) \(read) \(write) \(settings) --topic t-millrace.refunds. \(prefixed)
        \(refunds) \(read) --group t-millrace.refunds
        \(refunds) \(write) --transactional-id t-millrace.refunds. \(prefixed)

        # millrace-cli-quarantine
        \(quarantine) \(read) --topic t-millrace.quarantine
        # Only millrace-cli-quarantine, resubmit:
        \(quarantine) \(write) --topic t-appstore.notifications. \(prefixed)
        \(quarantine) \(write) --topic t-millrace.audit

        """)
  }

  @Test func `a KafkaUser for each process, as YAML`() throws {
    let documents = try text(.strimzi).components(of: "---\n")
    #expect(documents.count == 3)
    #expect(
      documents[0] == """
        apiVersion: kafka.strimzi.io/v1beta2
        kind: KafkaUser
        metadata:
          name: shop-millrace-ingress
          labels:
            strimzi.io/cluster: "events"
        spec:
          authentication:
            type: scram-sha-512
          authorization:
            type: simple
            acls:
              - resource:
                  type: topic
                  name: t-appstore.notifications.
                  patternType: prefix
                operations: [Write, DescribeConfigs]
              - resource:
                  type: topic
                  name: t-millrace.ingress
                  patternType: literal
                operations: [Write]
              - resource:
                  type: topic
                  name: t-millrace.quarantine
                  patternType: literal
                operations: [Write, DescribeConfigs]

        """)
    #expect(documents[2].contains("      # Only resubmit:\n      - resource:\n"))
    for (document, process) in zip(documents, processes) {
      let user = try YAMLValue(parsing: document, file: "users.yaml", area: .configuration)
      let rules = try #require(user["spec"]?["authorization"]?["acls"]?.elements)
      let granted = rules.reduce(0) { $0 + ($1["operations"]?.elements?.count ?? 0) }
      #expect(granted == process.sections.flatMap(\.entries).count, "\(process.process)")
      #expect(rules.allSatisfy { $0["resource"]?["type"] != nil && $0["resource"]?["name"] != nil })
    }
    let last = try YAMLValue(parsing: documents[1], file: "users.yaml", area: .configuration)
    let types = last["spec"]?["authorization"]?["acls"]?.elements?.map { $0["resource"]?["type"]?.content }
    #expect(types?.suffix(2) == [.scalar("group"), .scalar("transactionalId")])
  }

  @Test func `a resource for each operation, for Terraform`() throws {
    let text = try text(.terraform, "CN=")
    #expect(
      text.hasPrefix(
        """
        # millrace-ingress

        resource "kafka_acl" "millrace-ingress_Write_Topic_t-appstore_notifications_" {
          resource_name                = "t-appstore.notifications."
          resource_type                = "Topic"
          resource_pattern_type_filter = "Prefixed"
          acl_principal                = "User:CN=millrace-ingress"
          acl_host                     = "*"
          acl_operation                = "Write"
          acl_permission_type          = "Allow"
        }

        resource "kafka_acl" "millrace-ingress_DescribeConfigs_Topic_t-appstore_notifications_" {

        """))
    let names = text.split(separator: "\n").filter { $0.hasPrefix("resource ") }
    #expect(names.count == processes.flatMap(\.sections).flatMap(\.entries).count)
    #expect(Set(names).count == names.count)
    #expect(text.contains(#"resource_type                = "TransactionalID""#))
    #expect(text.contains("# Only resubmit.\nresource \"kafka_acl\" \"millrace-cli-quarantine_Write_Topic_"))
  }

  @Test func `the cluster has no name in Strimzi, and Kafka's own in Terraform`() throws {
    let entry = ACLEntry(pattern: .cluster, operation: .idempotentWrite)
    let access = ProcessAccess(
      process: "p", sections: [.init(condition: nil, entries: [entry])], unnamed: ["reads other topics"])
    func printed(_ format: ACLText.Format) throws -> String {
      try ACLText(format, principalPrefix: "", cluster: "kafka").text([access])
    }
    #expect(try printed(.kafkaACLs).hasSuffix("User:p --operation IdempotentWrite --cluster\n"))
    #expect(
      try printed(.strimzi).contains("- resource:\n          type: cluster\n        operations: [IdempotentWrite]"))
    #expect(try printed(.terraform).contains(#"resource_name                = "kafka-cluster""#))
    for format in ACLText.Format.allCases {
      #expect(try printed(format).contains("# Not included: reads other topics.\n"))
    }
  }

  @Test(arguments: [
    (ACLText.Format.kafkaACLs, "a b", "kafka", "--principal-prefix"),
    (.terraform, "a\"", "kafka", "--principal-prefix"),
    (.kafkaACLs, "$(id)", "kafka", "--principal-prefix"), (.strimzi, "CN=", "kafka", "--principal-prefix"),
    (.strimzi, "-a", "kafka", "--principal-prefix"), (.strimzi, "a-", "A b", "--cluster"),
    (.strimzi, "a-", "", "--cluster"),
  ])
  func `a value that the format does not allow is a wrong command line that names the flag`(
    format: ACLText.Format, prefix: String, cluster: String, flag: String
  ) throws {
    let error = try #require(throws: OperationError.self) {
      try ACLText(format, principalPrefix: prefix, cluster: cluster)
    }
    #expect(error.kind == .usage && error.place == flag)
  }
}

extension String {
  /// The parts after each occurrence of a separator.
  fileprivate func components(of separator: String) -> [String] {
    split(separator: separator).map(String.init)
  }
}

extension YAMLValue {
  fileprivate subscript(key: String) -> YAMLValue? {
    guard case .map(let members) = content else { return nil }
    return members.first { $0.key == key }?.value
  }

  fileprivate var elements: [YAMLValue]? {
    if case .list(let values) = content { values } else { nil }
  }
}
