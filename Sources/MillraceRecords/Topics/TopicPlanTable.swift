extension TopicPlan {
  /// Returns the plan as an aligned table, followed by a summary and a newline.
  package func table() -> String {
    var rows: [[String]] = [["TOPIC", "ACTION", "WHAT"]]
    for step in steps { rows += Self.rows(step) }
    let widths = (0..<2).map { column in rows.map { $0[column].count }.max() ?? 0 }
    let lines = rows.map { row in
      let padded = zip(row, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }
      return (padded + [row[2]]).joined(separator: "  ")
    }
    return lines.map { String($0[...($0.lastIndex { $0 != " " } ?? $0.startIndex)]) + "\n" }.joined() + "\n" + summary
      + "\n"
  }

  /// The counts, in one line. Further lines tell the size of the new topics, and if replicas were reduced.
  package var summary: String {
    var create = 0
    var partitions = 0
    var replicas = 0
    var alter = 0
    var add = 0
    var refuse = 0
    var owned = 0
    var undeclared = 0
    var keep = 0
    for step in steps {
      switch step {
      case .create(_, let count, let replication, _):
        create += 1
        partitions += count
        replicas += count * replication
      case .alter: alter += 1
      case .addPartitions: add += 1
      case .refuse: refuse += 1
      case .owned: owned += 1
      case .undeclared: undeclared += 1
      case .keep: keep += 1
      }
    }
    var counts =
      create + alter + add + refuse == 0
      ? "Nothing to do: \(keep) topics are as declared."
      : "\(create) to create, \(alter) to alter, \(add) to extend, \(refuse) refused, \(keep) as declared."
    if owned > 0 { counts += " \(owned) with settings that the cluster owns." }
    if undeclared > 0 { counts += " \(undeclared) with settings that no file declares." }
    if create > 0 { counts += "\nThe topics to create have \(partitions) partitions and \(replicas) replicas." }
    guard let fewerBrokers else { return counts }
    let most = fewerBrokers == 1 ? "1 replica" : "\(fewerBrokers) replicas"
    return counts + "\nRelaxed: at most \(most), one for each broker."
  }

  private static func rows(_ step: Step) -> [[String]] {
    switch step {
    case .create(let topic, let partitions, let replication, let settings):
      let list = settings.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      let head = "\(partitions) partitions, \(replication) replicas"
      return [[topic, "create", ([head] + list).joined(separator: " ")]]
    case .alter(let topic, let changes):
      return changes.enumerated().map { index, change in
        [
          index == 0 ? topic : "", index == 0 ? "alter" : "",
          "\(change.name): \(change.from ?? "unknown") → \(change.to)",
        ]
      }
    case .owned(let topic, let settings):
      let list = settings.map { "\($0.name)=\($0.from ?? "none") instead of \($0.to)" }
      return [[topic, "owned", "\(list.joined(separator: ", ")): the cluster does not let it be set"]]
    case .addPartitions(let topic, let from, let to):
      return [[topic, "extend", "partitions: \(from) → \(to)"]]
    case .undeclared(let topic, let settings):
      let list = settings.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      return [[topic, "undeclared", "\(list.joined(separator: " ")): not in its file, left as it is"]]
    case .refuse(let topic, let reason):
      return [[topic, "refuse", reason]]
    case .keep(let topic):
      return [[topic, "keep", ""]]
    }
  }
}
