// Alternates two loops, so that disturbances of the machine affect both halves of a pair.
import AppStoreSignature

/// Rounds of a baseline and of Millrace, in operations per second.
struct Pairs: Sendable {
  var rounds: [(baseline: Double, ours: Double)] = []

  var baseline: Double { Numbers.median(rounds.map(\.baseline)) }
  var ours: Double { Numbers.median(rounds.map(\.ours)) }
  /// The median of the ratios of all pairs.
  var ratio: Double { Numbers.median(rounds.map { $0.ours / $0.baseline }) }
}

struct Rounds: Sendable {
  let token: Token
  let verifier: SignedDataVerifier
  let seconds: Double
  let count: Int

  /// Alternates two loops. Each receives the number of operations. The first round of each is a warm-up.
  func pairs(
    _ baseline: (Int) async throws -> Void, _ ours: (Int) async throws -> Void
  ) async throws -> Pairs {
    let baselineCount = try await calibrated(baseline)
    let oursCount = try await calibrated(ours)
    var pairs = Pairs()
    for round in 0..<count {
      if round.isMultiple(of: 2) {
        let first = try await rate(baselineCount, baseline)
        pairs.rounds.append((first, try await rate(oursCount, ours)))
      } else {
        let first = try await rate(oursCount, ours)
        pairs.rounds.append((try await rate(baselineCount, baseline), first))
      }
    }
    return pairs
  }

  /// The number of operations that takes about ``seconds``.
  private func calibrated(_ loop: (Int) async throws -> Void) async throws -> Int {
    max(10, Int(try await rate(500, loop) * seconds))
  }

  private func rate(_ operations: Int, _ loop: (Int) async throws -> Void) async throws -> Double {
    let start = CPUTime.ofProcess
    try await loop(operations)
    return Double(operations) / (CPUTime.ofProcess - start)
  }

  func raw(_ checks: Int, _ operations: Int) {
    var valid = 0
    for _ in 0..<operations {
      for check in token.checks.prefix(checks) where check.check() { valid += 1 }
    }
    precondition(valid == checks * operations, "a raw check failed")
  }

  func outer(_ operations: Int) async throws {
    for _ in 0..<operations { _ = try await verifier.verifyNotificationOuter(token.jws, identity: .any) }
  }

  func withInner(_ operations: Int) async throws {
    for _ in 0..<operations { _ = try await verifier.verifyNotification(token.jws, identity: .any) }
  }

  /// Compares one task with two concurrent ones by elapsed time, because the result depends on shared resources.
  func scaling() async throws -> Pairs {
    let operations = try await calibrated { try await self.outer($0) }
    func wall(_ tasks: Int) async throws -> Double {
      let start = ContinuousClock.now
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<tasks { group.addTask { try await outer(operations) } }
        try await group.waitForAll()
      }
      return Double(tasks * operations) / ((ContinuousClock.now - start) / .seconds(1))
    }
    var pairs = Pairs()
    for round in 0..<count {
      if round.isMultiple(of: 2) {
        let one = try await wall(1)
        pairs.rounds.append((one, try await wall(2)))
      } else {
        let two = try await wall(2)
        pairs.rounds.append((try await wall(1), two))
      }
    }
    return pairs
  }
}
