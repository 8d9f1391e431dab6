// Tests that an erasure finds everything about its customers, whatever changes while it searches.

import AppStore
import AppStoreSigning
import Dispatch
import Synchronization
import Testing

@testable import MillraceWorker

@Suite struct ErasureSearchTests {
  private static let keys = (0..<6).map { Array("200000000\($0)".utf8) }

  /// An entry of a random kind, name and key. A name may be a key, and may change its key.
  private static func entry(using random: inout SeededGenerator) -> LedgerEntry {
    let key = keys.randomElement(using: &random) ?? []
    let number = Int.random(in: 0..<8, using: &random)
    let name = Bool.random(using: &random) ? String(decoding: key, as: UTF8.self) : "name/\(number)"
    let isRemoval = Int.random(in: 0..<5, using: &random) == 0
    switch Int.random(in: 0..<3, using: &random) {
    case 0: return .timer(name, isRemoval ? nil : LaneTimer(at: .second(9), key: key, payload: [1]))
    case 1: return isRemoval ? .state(name, nil) : .keeping(name, [2], of: key)
    default:
      return .effect(name, isRemoval ? nil : Effect(key: key, intendedAt: .second(1), progress: .intended(body: [3])))
    }
  }

  /// Returns the keys of everything in a ledger, by name.
  private static func content(_ ledger: Ledger) -> [LedgerEntry.Name: [[UInt8]]] {
    var content: [LedgerEntry.Name: [[UInt8]]] = [:]
    for name in keys.map({ String(decoding: $0, as: UTF8.self) }) + (0..<8).map({ "name/\($0)" }) {
      if let timer = ledger.timer(name) { content[.timer(name)] = [timer.key] }
      if let key = ledger.keyOfState(name) { content[.state(name)] = [Array(name.utf8), key] }
      if let effect = ledger.effect(name), case .intended = effect.progress { content[.effect(name)] = [effect.key] }
    }
    return content
  }

  @Test func `a search runs outside of the actor that calls it`() async {
    var ledger = Ledger()
    let search = ledger.searchErased(Self.keys)
    let others = CountingExecutor()
    let jobs = await Task(executorPreference: others) { await Caller().jobs(of: search, on: others) }.value
    #expect(jobs > 0)
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func `everything of the keys is erased, and nothing else, also if it changes during the search`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var ledger = Ledger()
    var staged: [LedgerEntry] = []
    func change(_ steps: Int) {
      for _ in 0..<steps {
        if !staged.isEmpty, Bool.random(using: &random) {
          ledger.settle(staged.removeFirst())
        } else {
          let entry = Self.entry(using: &random)
          ledger.stage(entry)
          staged.append(entry)
        }
      }
    }
    change(60)
    let erased = Array(Self.keys.shuffled(using: &random).prefix(2))
    let search = ledger.searchErased(erased)
    change(Int.random(in: 0..<30, using: &random))
    let found = search.names()
    change(Int.random(in: 0..<30, using: &random))
    let before = Self.content(ledger)
    let entries = ledger.entries(erasing: erased, found: found)
    for key in erased { for entry in entries[key] ?? [] { ledger.stage(entry) } }
    let expected = before.filter { !$0.value.contains { erased.contains($0) } }
    #expect(Self.content(ledger) == expected, "seed \(seed)")
    #expect(Set(entries.keys).isSubset(of: erased), "seed \(seed)")
  }
}

/// Runs jobs in order, and counts them.
private final class CountingExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "counting")
  private let number = Mutex(0)

  var count: Int { number.withLock { $0 } }

  func enqueue(_ job: consuming ExecutorJob) {
    number.withLock { $0 += 1 }
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// Calls a search, as a lane does.
private actor Caller {
  /// Returns the number of jobs that the executor of the task gets because of the search. An actor that runs the search
  /// itself needs none.
  func jobs(of search: ErasureSearch, on executor: CountingExecutor) async -> Int {
    let before = executor.count
    _ = await search.run()
    return executor.count - before
  }
}
