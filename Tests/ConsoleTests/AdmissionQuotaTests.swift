// The places of expensive requests, and the queue in front of them.

import MillraceTime
import TestEnvironment
import Testing

@testable import Console

@Suite(.timeLimit(.minutes(15))) struct AdmissionQuotaTests {
  private let time = ManualClock()
  private static let patience = Duration.seconds(3)

  private func wait(for quota: AdmissionQuota) -> Task<Admission?, any Error> {
    Task { [clock = time.clock] in try await quota.admit(within: Self.patience, by: clock) }
  }

  @Test func `requests wait in order, and one more than the queue takes is refused at once`() async throws {
    let quota = AdmissionQuota(limit: 1, queue: 2)
    let first = try #require(quota.admit())
    let second = wait(for: quota)
    try await waitUntil(quota.waiting == 1)
    let third = wait(for: quota)
    try await waitUntil(quota.waiting == 2)
    #expect(quota.admit() == nil)
    #expect(try await quota.admit(within: Self.patience, by: time.clock) == nil)

    first.end()
    let next = try #require(try await second.value)
    #expect(quota.waiting == 1 && quota.admitted == 1)
    next.end()
    next.end()
    let last = try #require(try await third.value)
    last.end()
    #expect(quota.admitted == 0)
  }

  @Test func `a request that waited for too long is refused, and a place that becomes free later is not lost`()
    async throws
  {
    let quota = AdmissionQuota(limit: 1, queue: 5)
    let first = try #require(quota.admit())
    let waiting = (0..<5).map { _ in wait(for: quota) }
    try await waitUntil(quota.waiting == 5)
    time.advance(by: Self.patience)
    for task in waiting { #expect(try await task.value == nil) }
    try await waitUntil(quota.waiting == 0)
    first.end()
    #expect(quota.admitted == 0 && quota.admit() != nil)
  }

  @Test func `of cancelled requests none keeps a place, whenever it is cancelled`() async throws {
    let quota = AdmissionQuota(limit: 2, queue: 50)
    for round in 0..<200 {
      let tasks = (0..<20).map { _ in
        Task { [clock = time.clock] in try await quota.admit(within: Self.patience, by: clock)?.end() }
      }
      for (index, task) in tasks.enumerated() where (index + round).isMultiple(of: 3) { task.cancel() }
      for task in tasks { _ = await task.result }
    }
    try await waitUntil(quota.admitted == 0 && quota.waiting == 0)
  }
}
