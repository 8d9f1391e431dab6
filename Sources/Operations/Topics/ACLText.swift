// The formats of `millrace topics acls`. Pure.

/// Prints the rights of processes for the tool that grants them.
package struct ACLText: Sendable {
  /// The tool.
  package enum Format: String, Sendable, CaseIterable {
    /// Shell commands with Kafka's `kafka-acls.sh`.
    case kafkaACLs = "kafka-acls"
    /// A `KafkaUser` of the Strimzi operator for each process.
    case strimzi
    /// Resources of the Terraform provider Mongey/kafka.
    case terraform
  }

  private let format: Format
  private let principalPrefix: String
  private let cluster: String

  /// Creates a printer.
  ///
  /// - Parameters:
  ///   - principalPrefix: The start of each principal's name, before the name of the process.
  ///   - cluster: The name of the `Kafka` resource, for Strimzi.
  /// - Throws: ``OperationError`` that names the flag whose value the format does not allow.
  package init(_ format: Format, principalPrefix: String, cluster: String) throws(OperationError) {
    self.format = format
    self.principalPrefix = principalPrefix
    self.cluster = cluster
    let isUser = format == .strimzi
    guard principalPrefix.utf8.allSatisfy({ isUser ? Self.isLabelByte($0) : Self.isPrincipalByte($0) }),
      !isUser || principalPrefix.first != "-"
    else {
      throw OperationError(
        .usage, "a principal cannot begin with `\(principalPrefix)` in this format", at: "--principal-prefix",
        remedy: isUser
          ? "use lower-case letters, digits and hyphens: it begins the name of a KafkaUser"
          : "use letters, digits and the characters . _ - = : / @ + ,")
    }
    guard !isUser || !cluster.isEmpty && cluster.utf8.allSatisfy({ Self.isLabelByte($0) }) else {
      throw OperationError(
        .usage, "`\(cluster)` is not the name of a Kafka resource", at: "--cluster",
        remedy: "use lower-case letters, digits and hyphens")
    }
  }

  /// Returns the text, with a line feed at the end of each line.
  package func text(_ processes: [ProcessAccess]) -> String {
    let lines =
      switch format {
      case .kafkaACLs: Self.head + processes.flatMap { kafkaACLs($0) }
      case .strimzi: processes.flatMap { strimzi($0) }
      case .terraform: processes.flatMap { terraform($0) }
      }
    return lines.map { $0 + "\n" }.joined()
  }

  /// Whether Kafka allows a byte in the name of a topic.
  static func isNameByte(_ byte: UInt8) -> Bool {
    isLabelByte(byte) || (65...90).contains(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
  }

  private static func isLabelByte(_ byte: UInt8) -> Bool {
    (97...122).contains(byte) || (48...57).contains(byte) || byte == UInt8(ascii: "-")
  }

  /// Whether a byte needs no quotes in a shell, in YAML or in Terraform.
  private static func isPrincipalByte(_ byte: UInt8) -> Bool { isNameByte(byte) || "=:/@+,".utf8.contains(byte) }

  /// Comments about what the entries of a process do not say.
  private func comments(_ access: ProcessAccess) -> [String] {
    access.unnamed.map { "# Not included: \($0)." }
  }

  // MARK: - kafka-acls

  private static let head = [
    "# Set BOOTSTRAP to the bootstrap servers, and COMMAND_CONFIG to a file with the client properties of an",
    "# administrator if the brokers require them.",
  ]

  private func kafkaACLs(_ access: ProcessAccess) -> [String] {
    let command = """
      kafka-acls.sh --bootstrap-server "$BOOTSTRAP" ${COMMAND_CONFIG:+--command-config "$COMMAND_CONFIG"} --add \
      --allow-principal User:\(principalPrefix)\(access.process)
      """
    var lines = ["", "# \(access.process)"] + comments(access)
    for section in access.sections {
      if let condition = section.condition { lines.append("# Only \(access.process), \(condition):") }
      for (operations, patterns) in Self.together(section) {
        let operations = operations.map { "--operation \($0.rawValue)" }
        lines.append(([command] + operations + Self.options(patterns)).joined(separator: " "))
      }
    }
    return lines
  }

  /// Groups the resources of one type and pattern type with the same operations: one command for each.
  private static func together(
    _ section: ProcessAccess.Section
  ) -> [(operations: [ACLEntry.Operation], patterns: [ACLEntry.Pattern])] {
    var groups: [(operations: [ACLEntry.Operation], patterns: [ACLEntry.Pattern])] = []
    for (pattern, operations) in byPattern(section) {
      let index = groups.firstIndex { group in
        group.operations == operations
          && group.patterns.allSatisfy { $0.resource == pattern.resource && $0.isPrefix == pattern.isPrefix }
      }
      if let index { groups[index].patterns.append(pattern) } else { groups.append((operations, [pattern])) }
    }
    return groups
  }

  /// The operations on each resource, in the order of the section.
  private static func byPattern(
    _ section: ProcessAccess.Section
  ) -> [(pattern: ACLEntry.Pattern, operations: [ACLEntry.Operation])] {
    var found: [(pattern: ACLEntry.Pattern, operations: [ACLEntry.Operation])] = []
    for entry in section.entries {
      if found.last?.pattern == entry.pattern {
        found[found.count - 1].operations.append(entry.operation)
      } else {
        found.append((entry.pattern, [entry.operation]))
      }
    }
    return found
  }

  private static func options(_ patterns: [ACLEntry.Pattern]) -> [String] {
    let options = patterns.map { pattern in
      switch pattern.resource {
      case .topic: "--topic \(pattern.name)"
      case .group: "--group \(pattern.name)"
      case .transactionalID: "--transactional-id \(pattern.name)"
      case .cluster: "--cluster"
      }
    }
    return options + (patterns.contains(where: \.isPrefix) ? ["--resource-pattern-type prefixed"] : [])
  }

  // MARK: - Strimzi

  private func strimzi(_ access: ProcessAccess) -> [String] {
    var lines =
      ["---"] + comments(access) + [
        "apiVersion: kafka.strimzi.io/v1beta2",
        "kind: KafkaUser",
        "metadata:",
        "  name: \(principalPrefix)\(access.process)",
        "  labels:",
        "    strimzi.io/cluster: \"\(cluster)\"",
        "spec:",
        "  authentication:",
        "    type: scram-sha-512",
        "  authorization:",
        "    type: simple",
        access.sections.isEmpty ? "    acls: []" : "    acls:",
      ]
    for section in access.sections {
      if let condition = section.condition { lines.append("      # Only \(condition):") }
      for (pattern, operations) in Self.byPattern(section) {
        lines += ["      - resource:", "          type: \(Self.strimziType(pattern.resource))"]
        if pattern.resource != .cluster {
          lines += [
            "          name: \(pattern.name)", "          patternType: \(pattern.isPrefix ? "prefix" : "literal")",
          ]
        }
        lines.append("        operations: [\(operations.map(\.rawValue).joined(separator: ", "))]")
      }
    }
    return lines
  }

  private static func strimziType(_ resource: ACLEntry.Resource) -> String {
    switch resource {
    case .topic: "topic"
    case .group: "group"
    case .transactionalID: "transactionalId"
    case .cluster: "cluster"
    }
  }

  // MARK: - Terraform

  private func terraform(_ access: ProcessAccess) -> [String] {
    var lines = ["# \(access.process)"] + comments(access) + [""]
    for section in access.sections {
      for entry in section.entries {
        if let condition = section.condition { lines.append("# Only \(condition).") }
        let type = Self.terraformType(entry.pattern.resource)
        let name = "\(access.process)_\(entry.operation.rawValue)_\(type)_\(entry.pattern.name)"
        lines += [
          "resource \"kafka_acl\" \"\(name.replacing(".", with: "_"))\" {",
          "  resource_name                = \"\(entry.pattern.name)\"",
          "  resource_type                = \"\(type)\"",
          "  resource_pattern_type_filter = \"\(entry.pattern.isPrefix ? "Prefixed" : "Literal")\"",
          "  acl_principal                = \"User:\(principalPrefix)\(access.process)\"",
          "  acl_host                     = \"*\"",
          "  acl_operation                = \"\(entry.operation.rawValue)\"",
          "  acl_permission_type          = \"Allow\"",
          "}", "",
        ]
      }
    }
    return lines
  }

  private static func terraformType(_ resource: ACLEntry.Resource) -> String {
    switch resource {
    case .topic: "Topic"
    case .group: "Group"
    case .transactionalID: "TransactionalID"
    case .cluster: "Cluster"
    }
  }
}
