// Settings for decisions about retention messaging that Apple's reviewers and systems make.

/// The timing of reviews and the results of performance tests.
package struct MessagingSettings: Sendable, Hashable {
  /// The length of a review in production. The sandbox approves immediately.
  package var reviewDelay: Duration
  /// The length of a performance test.
  package var performanceTestDuration: Duration
  /// Whether performance tests pass. The simulator does not call the URL.
  package var passesPerformanceTest: Bool
  /// "The maximum number of images you can configure for each app is 2000". The simulator limits messages to the same
  /// number.
  package var capacity: Int

  /// Settings. By default, a review takes a day, and every performance test passes after ten minutes.
  package init(
    reviewDelay: Duration = .seconds(86_400), performanceTestDuration: Duration = .seconds(600),
    passesPerformanceTest: Bool = true, capacity: Int = 2_000
  ) {
    self.reviewDelay = reviewDelay
    self.performanceTestDuration = performanceTestDuration
    self.passesPerformanceTest = passesPerformanceTest
    self.capacity = capacity
  }
}
