import Foundation
import TestEnvironment
import Testing

@testable import Operations

@Suite struct ProcessRightsTests {
  @Test func `the page prints the table`() throws {
    let page = try Project.text("docs/threat-model.md")
    let section = try #require(page.components(separatedBy: "### What each process may do in Kafka").dropFirst().first)
    let printed = section.split(separator: "\n").drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }.map(
      String.init)
    let expected = ProcessRights.markdown
    #expect(printed.count == expected.count)
    for (index, line) in expected.enumerated() {
      let found = index < printed.count ? printed[index] : ""
      #expect(found == line, "line \(index + 1) of the table in docs/threat-model.md")
    }
  }

  @Test func `a cell separates what is needed together, and a row without rights in a column has an empty cell`() throws
  {
    let lines = ProcessRights.markdown
    let ingress = try #require(lines.first { $0.hasPrefix("| `millrace-ingress`") })
    let topics = "`appstore.notifications.*`, `millrace.quarantine`"
    #expect(ingress == "| `millrace-ingress` | | \(topics), `millrace.ingress` | \(topics) | |")
    let replay = try #require(lines.first { $0.hasPrefix("| `millrace replay`") })
    #expect(replay.contains("; `stop`, `status`: `millrace.audit`; `stop`: `millrace.backfills`; `status`: "))
    #expect(replay.contains("; other topics that it sends |"))
    #expect(replay.hasSuffix("transactional ids that begin with `millrace.replay.` |"))
  }

  @Test func `names of processes are unique among programs and commands`() {
    let names = ProcessRights.table.filter { $0.kind == .program || $0.kind == .command }.flatMap(\.processes)
    // Copies of a replay and the move to more lanes have rows of their own.
    #expect(names.count == Set(names).count + 2)
    let besides = ProcessRights.table.filter { $0.kind == .besides }.flatMap(\.processes)
    #expect(Set(names).isDisjoint(with: besides))
  }
}

extension ProcessRights {
  /// The table as Markdown.
  fileprivate static var markdown: [String] {
    let head = [
      "| process | reads | writes | reads settings of | groups and transactional ids |", "|---|---|---|---|---|",
    ]
    return head
      + table.map { row in
        let cells = [row.title] + Column.allCases.map { row.cell($0) }
        return "|" + cells.map { $0.isEmpty ? " " : " \($0) " }.joined(separator: "|") + "|"
      }
  }

  private func cell(_ column: Column) -> String {
    clauses.filter { $0.column == column }.map(\.markdown).joined(separator: "; ")
  }
}

extension ProcessRights.Clause {
  /// The clause on the page.
  fileprivate var markdown: String {
    let quoted = names.map { resource == .transactionalID ? "`\($0.dropLast())`" : "`\($0)`" }
    let list =
      resource == .topic
      ? ((words.map { [$0] } ?? []) + quoted).joined(separator: ", ")
      : ((words.map { [$0] } ?? []) + [quoted.joined(separator: ", ")]).joined(separator: " ")
    return (condition.map { "\($0): " } ?? "") + list
  }
}

@Suite struct ACLEntryTests {
  private func entry(_ name: String, _ operation: ACLEntry.Operation, isPrefix: Bool = false) -> ACLEntry {
    ACLEntry(pattern: .init(resource: .topic, name: name, isPrefix: isPrefix), operation: operation)
  }

  @Test func `an entry grants the same operation on names that its pattern covers`() {
    let own = entry("millrace.refunds.", .read, isPrefix: true)
    #expect(own.covers(entry("millrace.refunds.ledger", .read)))
    #expect(own.covers(entry("millrace.refunds.retry.", .read, isPrefix: true)))
    #expect(!own.covers(entry("millrace.refunds", .read)))
    #expect(!own.covers(entry("millrace.refunds.ledger", .write)))
    #expect(!entry("a", .read).covers(entry("ab", .read)))
    #expect(!entry("a", .read).covers(entry("a", .read, isPrefix: true)))
    var group = entry("millrace.refunds.ledger", .read)
    group.pattern.resource = .group
    #expect(!own.covers(group))
  }

  @Test func `reading, writing and altering a topic include describing it`() {
    for operation in [ACLEntry.Operation.read, .write, .alter] {
      #expect(entry("a", operation).covers(entry("a", .describe)))
      #expect(!entry("a", operation).covers(entry("a", .describeConfigs)))
    }
    #expect(entry("a", .alterConfigs).covers(entry("a", .describeConfigs)))
    #expect(!entry("a", .alterConfigs).covers(entry("a", .describe)))
    #expect(!entry("a", .create).covers(entry("a", .describe)))
  }

  @Test func `covered entries are dropped`() {
    let all: Set = [
      entry("a.", .read, isPrefix: true), entry("a.b", .read), entry("a.b", .describe), entry("b", .write),
      entry("b", .describe),
    ]
    #expect(all.withoutCovered() == [entry("a.", .read, isPrefix: true), entry("b", .write)])
    #expect(all.withoutCovered(by: [entry("b", .write)]) == [entry("a.", .read, isPrefix: true)])
  }
}
