import AppStore
import AppStoreSigning
import MillraceTime
import MillraceCore
import Testing

@testable import Operations

@Suite("The selection of millrace backfill")
struct BackfillSelectionTests {
  private let now = Timestamp(millisecondsSince1970: 1_767_225_600_000)
  private let fixture: APIFixture

  init() throws { fixture = try APIFixture() }

  private func selection(_ change: (inout BackfillFlags) -> Void) throws -> BackfillSelection {
    var flags = BackfillFlags()
    flags.from = StartArgument("3d")
    change(&flags)
    return try flags.selection(in: try fixture.configuration(), now: now)
  }

  @Test("every flag is in the request to Apple, and the selection survives its JSON form")
  func flags() throws {
    let selection = try selection { flags in
      (flags.from, flags.to, flags.type, flags.subtype) = (
        StartArgument("36h"), TimeArgument("2025-12-31T12:00:00Z"), "did_renew", "BILLING_RECOVERY"
      )
      (flags.onlyFailures, flags.environment) = (true, "Production")
    }
    #expect(selection.targets.map(\.environment) == [.production])
    #expect(selection.from == now - .seconds(36 * 3_600))
    let request = selection.request(from: selection.from, to: selection.to)
    #expect(request.notificationType == .didRenew && request.notificationSubtype == .billingRecovery)
    #expect(request.onlyFailures == true && request.transactionId == nil)
    #expect(BackfillSelection(json: selection.json) == selection)
    #expect(selection.sentence.contains("DID_RENEW") && selection.sentence.contains("failures"))
  }

  @Test("earliest is the oldest that Apple keeps in every chosen environment, and latest is now")
  func ends() throws {
    #expect(try selection { $0.from = .earliest }.from == now - .seconds(30 * 86_400 - 60))
    #expect(
      try selection { ($0.from, $0.environment) = (.earliest, "Production") }.from == now - .seconds(180 * 86_400 - 60))
    #expect(throws: OperationError.self) { try selection { $0.from = .latest } }
  }

  @Test("the default is every environment of every app that has credentials")
  func targets() throws {
    #expect(try selection { _ in }.targets.map(\.environment) == [.production, .sandbox])
    #expect(try selection { $0.environment = "Sandbox" }.targets.map(\.environment) == [.sandbox])
    var configuration = try fixture.configuration()
    var other = configuration.apps[0]
    other.bundleId = "com.example.other"
    other.environments = [.production]
    var mute = AppSettings()
    mute.bundleId = "com.example.mute"
    configuration.apps += [other, mute]
    var flags = BackfillFlags()
    flags.from = StartArgument("1d")
    #expect(try flags.selection(in: configuration, now: now).targets.count == 3)
    flags.environment = "Sandbox"
    #expect(try flags.selection(in: configuration, now: now).targets.map(\.bundleId) == [fixture.fixture.app.bundleId])
    flags.app = "com.example.mute"
    #expect(throws: MillraceError.self) { try flags.selection(in: configuration, now: now) }
  }

  @Test(
    "the error for a request that Apple would refuse names the flag and the bound",
    arguments: [
      (BackfillFlags.of(from: "181d", environment: "Production"), "--from", "180 days"),
      (.of(from: "31d", environment: "Sandbox"), "--from", "30 days"),
      (.of(from: "31d"), "--from", "choose one --environment"),
      (.of(from: "1d", to: "2d"), "--to", "later"),
      (.of(from: "1d", type: "REFUNDS"), "--type", "REFUND"),
      (.of(from: "1d", type: "REFUND", subtype: "UPGRADE"), "--subtype", "subtype"),
      (.of(from: "1d", type: "REFUND", transaction: "7"), "--type", "transactionId"),
      (.of(from: "1d", transaction: "../seven"), "--transaction", "1024 bytes"),
      (.of(from: nil), "--from", "missing"),
      (.of(from: "1d", environment: "Xcode"), "--environment", "Production"),
    ])
  func refused(flags: BackfillFlags, flag: String, says: String) throws {
    let configuration = try fixture.configuration()
    let error = try #require(throws: OperationError.self) { try flags.selection(in: configuration, now: now) }
    #expect(error.kind == .usage && error.place == flag, "\(error)")
    #expect("\(error)".contains(says), "\(error)")
  }

  @Test("the bounds themselves are accepted")
  func bounds() throws {
    #expect(throws: Never.self) { try selection { ($0.from, $0.environment) = (StartArgument("180d"), "Production") } }
    #expect(throws: Never.self) { try selection { ($0.from, $0.environment) = (StartArgument("30d"), "Sandbox") } }
  }

  @Test("slices cover the range without gaps, oldest first, and are reproducible", arguments: 0..<200 as Range<UInt64>)
  func slices(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let length = Duration.milliseconds(Int64.random(in: 1_000...90_000_000, using: &random))
    let from = now - .milliseconds(Int64.random(in: 1...8_000_000_000, using: &random))
    let targets = [AppStoreEnvironment.production, .sandbox].map { BackfillTarget(bundleId: "a", environment: $0) }
    let selection = BackfillSelection(targets: targets, from: from, to: now)
    for length in [length, BackfillSlice.length(from: from, to: now)] {
      let slices = BackfillSlice.plan(selection, length: length)
      #expect(slices.map(\.number) == Array(slices.indices), "seed \(seed)")
      for target in targets {
        let mine = slices.filter { $0.target == target }
        #expect(mine.first?.from == from && mine.last?.to == now, "seed \(seed)")
        for (one, next) in zip(mine, mine.dropFirst()) {
          #expect(next.from <= one.to && next.from > one.from, "seed \(seed)")
        }
      }
      #expect(slices == BackfillSlice.plan(selection, length: length), "seed \(seed)")
    }
    let usual = BackfillSlice.length(from: from, to: now)
    #expect(BackfillSlice.lengths.contains(usual))
  }

  @Test("a single customer is one slice per history")
  func customer() throws {
    let selection = try selection { $0.transaction = "2000000123456789" }
    #expect(BackfillSlice.plan(selection, length: .seconds(60)).count == 2)
  }
}

extension BackfillFlags {
  fileprivate static func of(
    from: String?, to: String? = nil, type: String? = nil, subtype: String? = nil, transaction: String? = nil,
    environment: String? = nil
  ) -> BackfillFlags {
    var flags = BackfillFlags()
    (flags.from, flags.to) = (from.flatMap { StartArgument($0) }, to.flatMap { TimeArgument($0) })
    (flags.type, flags.subtype) = (type, subtype)
    (flags.transaction, flags.environment) = (transaction, environment)
    return flags
  }
}
