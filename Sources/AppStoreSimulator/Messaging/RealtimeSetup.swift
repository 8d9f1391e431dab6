// An app's Get Retention Message endpoint: its URLs, and the performance test that production requires.

internal import AppStore

/// The real-time URLs of one app, and the performance tests of its sandbox URL.
struct RealtimeSetup: Sendable {
  /// One performance test.
  struct Run: Sendable, Hashable {
    let target: String
    let started: Timestamp
    let duration: Duration
    let passes: Bool

    /// The completed share, from 0 to 1.
    func progress(at now: Timestamp) -> Double {
      duration > .zero ? min(max((now - started) / duration, 0), 1) : 1
    }
  }

  private let settings: MessagingSettings
  private var urls: [AppStoreEnvironment: String] = [:]
  private var runs = BoundedMemory<CompactUUID, Run>(capacity: 1_000)
  private var latest: Run?
  /// The end of the first passed test.
  private var passed: Timestamp?

  init(_ settings: MessagingSettings) { self.settings = settings }

  /// - Throws: ``APIFailure/noPassingTest`` in production if no performance test has passed.
  mutating func configure(
    _ url: String, in environment: AppStoreEnvironment, at now: Timestamp
  ) throws(APIFailure) {
    guard Self.isAcceptable(url) else { throw .badRequestRealtimeURL }
    if environment == .production {
      guard let passed, passed <= now else { throw .noPassingTest }
    }
    urls[environment] = url
  }

  mutating func remove(in environment: AppStoreEnvironment) throws(APIFailure) {
    guard urls.removeValue(forKey: environment) != nil else { throw .realtimeURLNotFound }
  }

  func url(in environment: AppStoreEnvironment) throws(APIFailure) -> String {
    guard let url = urls[environment] else { throw .realtimeURLNotFound }
    return url
  }

  /// Starts a performance test of the sandbox URL.
  mutating func test(_ id: CompactUUID, at now: Timestamp) throws(APIFailure) {
    let target = try url(in: .sandbox)
    if let latest, latest.progress(at: now) < 1 { throw .existingPerformanceTestRun }
    let run = Run(
      target: target, started: now, duration: settings.performanceTestDuration, passes: settings.passesPerformanceTest)
    runs[id] = run
    latest = run
    if run.passes, passed == nil { passed = now + run.duration }
  }

  func run(_ id: CompactUUID) throws(APIFailure) -> Run {
    guard let run = runs[id] else { throw .performanceTestRunNotFound }
    return run
  }

  /// Whether the URL is HTTPS with a host, at most 256 characters long, and free of characters that a URL cannot
  /// contain.
  private static func isAcceptable(_ url: String) -> Bool {
    let scheme = "https://"
    guard url.utf8.count <= 256, url.lowercased().hasPrefix(scheme), url.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return false }
    return url.dropFirst(scheme.count).first.map { !"/?#:".contains($0) } ?? false
  }
}
