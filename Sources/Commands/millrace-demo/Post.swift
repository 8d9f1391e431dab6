// Second step: what Apple would post. Every documented type and subtype of version 2, every type of version 1.
import AppStore
import AppStoreSigning
import ArgumentParser
import Millrace

struct Post: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Posts a signed notification of every type and subtype, and V1 bodies of every type.")

  @OptionGroup var options: WorkspaceOptions
  @Flag(help: "Print how many there are and post nothing.") var count = false

  func run() async throws {
    guard !count else {
      print(SampleKind.all.count + NotificationTypeV1.allKnown.count)
      return
    }
    let workspace = options.workspace
    let sender = Sender(try workspace.configuration())
    var entries: [JournalEntry] = []
    var times: [Duration] = []
    for (expected, body, path) in try Self.bodies(workspace) {
      var entry = expected
      let answer = try await sender.post(body, to: path)
      entry.status = answer.status
      entries.append(entry)
      times.append(answer.took)
    }
    try workspace.append(entries)

    times.sort()
    let accepted = entries.count { $0.isAnsweredAsExpected }
    // To standard error: standard output may belong to `millrace listen` at this moment.
    Terminal.note(
      "\(entries.count) posted, \(accepted) answered 200, median "
        + Terminal.milliseconds(times[times.count / 2]) + ", slowest " + Terminal.milliseconds(times[times.count - 1]))
    for entry in entries where !entry.isAnsweredAsExpected {
      Terminal.note("\(entry.label): answered \(entry.status) instead of \(entry.expectedStatus)")
    }
    guard accepted == entries.count else { throw ExitCode.failure }
  }

  /// What is expected, the body to post, and where.
  private static func bodies(_ workspace: Workspace) throws -> [(JournalEntry, [UInt8], String)] {
    let now = Workspace.now
    var samples = SampleNotifications(chain: try workspace.chain(), app: Workspace.app, seed: Workspace.seed)
    let v2 = try samples.everyKind(from: now).map { sample in
      let entry = JournalEntry(
        group: .v2, label: "\(sample.kind)", expectedStatus: 200, status: 0, destination: .notifications,
        value: sample.jws, key: sample.orderingKey,
        type: "com.apple.appstore.notification.v2." + sample.kind.type.rawValue)
      return (entry, sample.body, "/v2")
    }
    // The same bodies twice, with and without the secret: what is expected was never cut out of what is posted.
    var posted = SampleNotificationsV1(
      app: Workspace.app, password: try workspace.secret(), seed: Workspace.seed)
    var expected = SampleNotificationsV1(app: Workspace.app, password: nil, seed: Workspace.seed)
    let v1 = NotificationTypeV1.allKnown.map { type in
      let stored = expected.next(type, at: now)
      let entry = JournalEntry(
        group: .v1, label: type.rawValue, expectedStatus: 200, status: 0, destination: .notifications,
        value: stored.body, key: stored.originalTransactionId,
        type: "com.apple.appstore.notification.v1." + type.rawValue)
      return (entry, posted.next(type, at: now).body, "/v1")
    }
    return v2 + v1
  }
}
