// Finds the fewest steps of a plan that still fail.

struct Shrinker {
  private let runner: SeedRunner
  private let seed: UInt64

  init(_ runner: SeedRunner, _ seed: UInt64) { (self.runner, self.seed) = (runner, seed) }

  /// Removes halves, quarters and single steps for as long as the rest still fails.
  func shrink() throws -> Set<Int> {
    var steps = Array(Plan(seed: seed, worker: runner.worker).steps.indices)
    if let kept = runner.kept { steps = steps.filter(kept.contains) }
    guard try fails(steps) else { return Set(steps) }
    var size = max(1, steps.count / 2)
    while true {
      var start = 0
      var hasShrunk = false
      while start < steps.count {
        let rest = Array(steps[..<start] + steps[min(steps.count, start + size)...])
        if try fails(rest) {
          steps = rest
          hasShrunk = true
        } else {
          start += size
        }
      }
      if size == 1, !hasShrunk { break }
      size = max(1, size / 2)
    }
    print("\(steps.count) of \(Plan(seed: seed, worker: runner.worker).steps.count) steps still fail")
    return Set(steps)
  }

  private func fails(_ steps: [Int]) throws -> Bool {
    var runner = runner
    runner.kept = Set(steps)
    return try runner.report(seed).isFailure
  }
}
