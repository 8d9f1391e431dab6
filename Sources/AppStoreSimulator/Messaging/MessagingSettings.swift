// What Apple's people and machines decide about retention messaging, as settings.

/// How images, messages and performance tests fare.
public struct MessagingSettings: Sendable, Hashable {
  /// How long review takes in production; the sandbox approves at once.
  public var reviewDelay: Duration
  /// How long a performance test runs.
  public var performanceTestDuration: Duration
  /// How performance tests end. The simulator calls no URL: this is the whole test.
  public var passesPerformanceTest: Bool
  /// "The maximum number of images you can configure for each app is 2000"; messages have the same room here.
  public var capacity: Int

  /// A pace; the defaults review within a day and pass every test after ten minutes.
  public init(
    reviewDelay: Duration = .seconds(86_400), performanceTestDuration: Duration = .seconds(600),
    passesPerformanceTest: Bool = true, capacity: Int = 2_000
  ) {
    self.reviewDelay = reviewDelay
    self.performanceTestDuration = performanceTestDuration
    self.passesPerformanceTest = passesPerformanceTest
    self.capacity = capacity
  }
}
