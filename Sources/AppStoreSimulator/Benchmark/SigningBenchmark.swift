// Measures how fast a world signs on one core and whether its memory grows. Subscriptions renew for years; every
// notification is signed and none is sent.

internal import AppStore
internal import AppStoreSigning

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The result of a run.
public struct SigningBenchmark: Sendable, Hashable {
  /// A measurement of the process.
  public struct Sample: Sendable, Hashable {
    /// The number of notifications signed so far.
    public let signed: Int
    /// The CPU time of the process so far.
    public let cpu: Duration
    /// The memory in use, in bytes; nil if the system does not report it.
    public let resident: Int?
  }

  /// The measurements, one at every tenth of the run.
  public let samples: [Sample]
  /// The size of the last body, in bytes.
  public let bodySize: Int

  /// The number of notifications per second of one core.
  public var perSecond: Double {
    guard let first = samples.first, let last = samples.last, last.cpu > first.cpu else { return 0 }
    return Double(last.signed - first.signed) / ((last.cpu - first.cpu) / .seconds(1))
  }

  /// Signs `count` notifications, one after another.
  ///
  /// - Throws: ``SigningError`` or ``WorldError``; either would be a defect of the simulator.
  public static func run(count: Int, seed: UInt64 = 1) throws -> SigningBenchmark {
    let origin = Timestamp(millisecondsSince1970: 1_767_225_600_000)
    let product = Product(productId: "com.example.app.premium.weekly", period: SubscriptionPeriod(1, .week))
    let app = SimulatedApp(
      bundleId: "com.example.app", appAppleId: 1_234_567_890, environments: [.production], products: [product])
    let world = World(
      apps: [app], seed: seed, limits: WorldLimits(notifications: 10_000, transactionsPerCustomer: 12),
      beginning: origin)
    try world.withState { state throws(WorldError) in
      try state.settle(
        Scenario.Population(
          bundleId: app.bundleId, environment: .production, count: 5_000, products: [product.productId],
          since: .seconds(7 * 86_400)), at: origin)
    }
    world.withState { $0.hasPostman = true }
    let signer = NotificationSigner(
      RotatingLeaves(try SigningChain.generate(at: origin, seed: seed), origin: origin, interval: nil))
    var samples = [sample(0)]
    var (signed, bodySize, now) = (0, 0, origin)
    while signed < count {
      now = now + .seconds(600)
      try world.run(until: now)
      let subjects = world.withState { state in
        let happened = state.outbox
        state.outbox.removeAll(keepingCapacity: true)
        let subjects = happened.compactMap { id in
          state.realms[id.realm].log[id.sequence].map { state.subject(of: $0) }
        }
        for id in happened { state.realms[id.realm].log.update(id.sequence) { $0.openDeliveries = 0 } }
        return subjects
      }
      for subject in subjects where signed < count {
        bodySize = postBody(try signer.sign(subject).jws).count
        signed += 1
        if signed.isMultiple(of: max(1, count / 10)) { samples.append(sample(signed)) }
      }
    }
    return SigningBenchmark(samples: samples, bodySize: bodySize)
  }

  private static func sample(_ signed: Int) -> Sample {
    var time = timespec()
    // The clock exists on every supported platform; on failure the time remains zero.
    _ = clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    let cpu = Duration.seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    return Sample(signed: signed, cpu: cpu, resident: residentBytes)
  }

  /// The second number of `/proc/self/statm`, in pages.
  private static var residentBytes: Int? {
    guard let file = fopen("/proc/self/statm", "r") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, Int32(line.count), file) != nil else { return nil }
    let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    return pages.map { $0 * Int(getpagesize()) }
  }
}
