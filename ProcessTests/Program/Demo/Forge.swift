// Third step, after the simulator: posts forgeries. The ingress must refuse each with the right status.
import AppStoreSigning
import ArgumentParser
import MillraceWorker
import ScenarioRig

struct Forge: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Posts labelled forgeries and shows that each is refused.")

  @OptionGroup var options: WorkspaceOptions

  func run() async throws {
    let workspace = options.workspace
    let ingress = try workspace.configuration().ingress
    var entries: [JournalEntry] = []
    for forged in try Self.all(workspace) {
      var entry = forged.entry
      entry.status = try await Web.post(
        forged.body, to: "http://\(ingress.host):\(ingress.port)\(forged.path)")
      entries.append(entry)
      print(Self.row(entry))
    }
    // The last step checks the results, because it also sees Kafka.
    try workspace.append(entries)
  }

  private static func row(_ entry: JournalEntry) -> String {
    let columns =
      Terminal.padded(entry.group.rawValue, 30)
      + (entry.destination == .quarantine
        ? Terminal.padded(entry.label, 36) + "kept in millrace.quarantine" : entry.label)
    return entry.isAnsweredAsExpected
      ? Terminal.green("  refused \(entry.status)  ") + columns
      : Terminal.red("  \(entry.status), not \(entry.expectedStatus)  ") + columns
  }

  private static func all(_ workspace: Workspace) throws -> [Forged] {
    let now = Workspace.now
    let tokens = try Forgeries(
      chain: workspace.chain(), app: Workspace.app, signedDate: now, seed: Workspace.seed &+ 1)
    let signed = try tokens.all().map { Forged($0) }
    let all = signed + Forged.v1(secret: try workspace.secret(), at: now) + Forged.requests(limit: 256 << 10)
    // Grouped by kind for readability.
    return JournalEntry.Group.allCases.flatMap { group in all.filter { $0.entry.group == group } }
  }
}
