// The findings of `millrace doctor` for a person: grouped by cause, the first cause first, in few lines. Pure.

internal import AppStore

/// Findings that an operator reads from top to bottom.
package struct DoctorReport: Sendable {
  /// Findings with the same cause and the same remedy.
  private struct Group {
    var first: DoctorFinding
    var subjects: [String] = []

    /// `a, b and 7 more`
    var names: String {
      let shown = subjects.prefix(3).joined(separator: ", ")
      return subjects.count > 3 ? "\(shown) and \(subjects.count - 3) more" : shown
    }
  }

  private let findings: [DoctorFinding]

  /// The most lines of a report.
  package static let maximumLines = 20

  /// Creates a report.
  package init(_ findings: [DoctorFinding]) { self.findings = findings }

  /// The lines: problems before warnings, each in the order of the checks, then what is well in one line.
  package func lines(lineWidth: Int?, usesColor: Bool) -> [String] {
    let groups = groups()
    var lines: [String] = []
    var shown = 0
    // Two lines are left: the checks without a problem, and the number of groups left out.
    for group in groups where lines.count + 2 <= Self.maximumLines - 2 {
      let finding = group.first
      let style: TextStyle = finding.severity == .warning ? .yellow : .red
      let names = group.subjects.isEmpty ? "" : " \(group.names):"
      let text = "\(finding.check.rawValue):\(names) \(finding.what)"
      lines.append(style.applied(to: cut(text, lineWidth), usesColor: usesColor))
      if let advice = finding.advice(usesColor: usesColor) { lines.append(advice) }
      shown += 1
    }
    if shown < groups.count { lines.append("\(groups.count - shown) more; --verbose shows all") }
    let troubled = Set(groups.map(\.first.check))
    let good = DoctorFinding.Check.allCases.filter { check in
      !troubled.contains(check) && findings.contains { $0.check == check && $0.severity == .good }
    }
    let text = good.map(\.rawValue).joined(separator: ", ")
    if !good.isEmpty {
      lines.append(TextStyle.green.applied(to: cut("good: \(text)", lineWidth), usesColor: usesColor))
    }
    return lines
  }

  private func cut(_ text: String, _ width: Int?) -> String { TerminalText.cut(text, to: width ?? .max) }

  private func groups() -> [Group] {
    var groups: [Group] = []
    for finding in findings where finding.severity > .skipped {
      let index = groups.firstIndex { group in
        (group.first.check, group.first.severity, group.first.what, group.first.remedy)
          == (finding.check, finding.severity, finding.what, finding.remedy)
      }
      if let index {
        if let subject = finding.subject { groups[index].subjects.append(subject) }
      } else {
        groups.append(Group(first: finding, subjects: finding.subject.map { [$0] } ?? []))
      }
    }
    // A stable order: what cannot work, then what is only worth knowing.
    return groups.filter { $0.first.severity != .warning } + groups.filter { $0.first.severity == .warning }
  }
}
