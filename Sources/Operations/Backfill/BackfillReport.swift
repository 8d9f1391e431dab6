// The reports of a run, for people and scripts. Pure.

package import AppStore
internal import MillraceTime
internal import MillraceWorker

/// An event in a run.
package enum BackfillReport: Sendable, Hashable {
  /// The run made progress.
  case progress(BackfillRun)
  /// Apple fails; the text is Apple's answer, and the run waits until the given time.
  case waiting(BackfillTarget, String, until: Timestamp)
  /// A slice starts again because Apple rejected its page token.
  case restarted(BackfillSlice)
  /// Apple no longer keeps this part of the history.
  case outOfReach(BackfillSlice)
  /// The run ended.
  case ended(BackfillRun)

  /// The report as one line of JSON, without a line feed.
  package var jsonLine: String {
    let json: JSONObject =
      switch self {
      case .progress(let run): Self.event("progress", run.json)
      case .ended(let run): Self.event("ended", run.json)
      case .waiting(let target, let words, let until):
        [
          "event": "waiting", "bundleId": .string(target.bundleId), "environment": .string(target.environment.rawValue),
          "detail": .string(words), "until": .string(until.rfc3339),
        ]
      case .restarted(let slice): Self.event("restarted", slice.json)
      case .outOfReach(let slice): Self.event("out-of-reach", slice.json)
      }
    return String(decoding: json.serialized(), as: UTF8.self)
  }

  /// The report as one line of text. Nil for ``progress(_:)``, which has its own line:
  /// ``BackfillRun/progressLine(at:width:usesColor:)``.
  package var line: String? {
    switch self {
    case .progress: nil
    case .ended(let run): run.sentence
    case .waiting(let target, let words, let until): "\(target): \(words); waiting until \(until.rfc3339)"
    case .restarted(let slice): "\(slice.words): Apple rejected the page token; starting again at the first page"
    case .outOfReach(let slice): "\(slice.words): Apple no longer keeps this part of the history"
    }
  }

  private static func event(_ name: String, _ json: JSONObject) -> JSONObject {
    JSONObject([.init(key: "event", value: .string(name))] + json.members.filter { $0.key != "kind" })
  }
}

extension BackfillSlice {
  var json: JSONObject {
    [
      "slice": .integer(Int64(number)), "bundleId": .string(target.bundleId),
      "environment": .string(target.environment.rawValue), "from": .string(from.rfc3339), "to": .string(to.rfc3339),
    ]
  }

  var words: String { "\(target), \(from.rfc3339) to \(to.rfc3339)" }
}

extension BackfillRun {
  /// The estimated end of the run; nil before the first slice of this process is done.
  ///
  /// - Parameter begun: The time at which this process started to work, and the number of slices done by then.
  func estimatedEnd(at now: Timestamp, begun: (at: Timestamp, slicesDone: Int)) -> Timestamp? {
    let done = slicesDone - begun.slicesDone
    guard done > 0, now > begun.at else { return nil }
    return now + (now - begun.at) / done * max(0, slices.count - slicesDone)
  }

  /// The progress line, which replaces the one before it on a terminal.
  func progressLine(
    at now: Timestamp, begun: (at: Timestamp, slicesDone: Int), width: Int?, usesColor: Bool
  ) -> String {
    let bar = ProgressBar(
      parts: [.init(count: Int64(slicesDone), symbol: "█", style: .green)], total: Int64(slices.count))
    let end = estimatedEnd(at: now, begun: begun).map { ", done in about \(Self.rough($0 - now))" } ?? ""
    let facts = [
      "\(counts.published) published", counts.quarantined > 0 ? "\(counts.quarantined) in quarantine" : nil,
      state == .paused ? "paused" : nil,
    ].compactMap(\.self)
    return bar.text(width: 20, usesColor: usesColor) + " \(slicesDone) of \(slices.count) slices, "
      + facts.joined(separator: ", ") + (state == .paused ? "" : end)
  }

  /// The result of the run as a sentence.
  package var sentence: String {
    let extra = [
      counts.quarantined > 0
        ? "\(HumanText.count(counts.quarantined, "item")) in quarantine (millrace quarantine list)" : nil,
      counts.restarts > 0 ? "\(HumanText.count(counts.restarts, "slice")) restarted" : nil,
    ].compactMap(\.self)
    let what = (["\(counts.published) notifications published"] + extra).joined(separator: ", ")
    switch state {
    case .done: return "Done: \(what)."
    case .stopped: return "Stopped by an operator: \(what), \(slicesDone) of \(slices.count) slices."
    case .failed, .running, .paused:
      return "Incomplete: \(what), \(slicesDone) of \(slices.count) slices. Continue with millrace backfill --run \(id)"
        + (detail.map { ". \($0)" } ?? "")
    }
  }

  /// The exit status of the command.
  package var status: CommandStatus { state == .done && counts.quarantined == 0 ? .success : .failure }

  static func rough(_ duration: Duration) -> String {
    let seconds = max(0, duration.components.seconds)
    if seconds < 90 { return "\(seconds) s" }
    if seconds < 90 * 60 { return "\((seconds + 30) / 60) min" }
    let minutes = (seconds + 30) / 60
    return "\(minutes / 60) h \(minutes % 60) min"
  }

  /// Runs as a table, newest last.
  package static func lines(_ runs: [BackfillRun], now: Timestamp, lineWidth: Int?, usesColor: Bool) -> [String] {
    guard !runs.isEmpty else { return ["No runs."] }
    let columns = [
      TextColumn("RUN"), TextColumn("STATE"), TextColumn("SLICES", alignment: .right),
      TextColumn("PUBLISHED", alignment: .right), TextColumn("QUARANTINED", alignment: .right), TextColumn("STARTED"),
      TextColumn("BY"), TextColumn("WHAT"),
    ]
    let rows = runs.map { run -> [TextCell] in
      [
        TextCell(run.id, .cyan), run.stateCell(at: now), TextCell("\(run.slicesDone)/\(run.slices.count)"),
        TextCell("\(run.counts.published)"), TextCell("\(run.counts.quarantined)"), TextCell(run.startedAt),
        TextCell(run.by), TextCell(run.selection.sentence, .dim),
      ]
    }
    return TextTable.lines(columns, rows: rows, lineWidth: lineWidth, usesColor: usesColor)
  }

  private func stateCell(at now: Timestamp) -> TextCell {
    switch state {
    case .running, .paused:
      isAlive(at: now) ? TextCell(state.rawValue, .green) : TextCell("silent since \(updatedAt.rfc3339)", .yellow)
    case .done: TextCell("done", .green)
    case .stopped: TextCell("stopped", .yellow)
    case .failed: TextCell("failed", .red)
    }
  }
}
