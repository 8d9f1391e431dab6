// The deployment of the worker that crashes.

import AppStore
import AppStoreSigning
import Foundation
import ScenarioRig

extension CrashTest {
  /// The size of the worker.
  struct Size: Sendable {
    var lanes: Int
    var recordsInFlight: Int
    var hasShortSessions = true
    /// Whether a named process leaves the group when it stops, so that its lanes do not wait for it.
    var leavesOnStop = false
    /// The worker's retry delays, as in the configuration.
    var delays = ["300ms", "2s"]

    /// Few records in flight, so the suspicion after several kills ends during the run.
    static let usual = Size(lanes: 4, recordsInFlight: 6)
    /// Enough records in flight for many to be committed in one transaction.
    static let deep = Size(lanes: 2, recordsInFlight: 48)
    /// Lanes for four processes, and the worker's default session timeouts.
    static let faults = Size(lanes: 6, recordsInFlight: 6, hasShortSessions: false, leavesOnStop: true)
    /// The worker's default session timeouts.
    static let asDeployed = Size(lanes: 12, recordsInFlight: 6, hasShortSessions: false)
  }

  static let retryDelays = [Duration.milliseconds(300), .seconds(2)]

  /// - Parameter prefix: A prefix for topic names, in addition to `rig.prefix`; nil: a random one.
  static func deploy(
    _ size: Size, _ name: String, prefix: String? = nil, _ chain: SigningChain, _ app: SampleApp, _ rig: Rig
  ) async throws -> Deployment {
    let directory = try rig.makeDirectory(name)
    let root = "\(directory)/root.pem"
    try Data(chain.rootPEM.utf8).write(to: URL(fileURLWithPath: root))
    return try await Deployment(
      rig, in: directory,
      prefix: "\(rig.prefix)\(prefix ?? "\(name)-\(String(UInt64.random(in: .min ... .max), radix: 36)).")",
      lanes: size.lanes, hasShortSessions: size.hasShortSessions,
      settings: """
        trust: { roots: [\(root)] }
        apps:
          - bundleId: \(app.bundleId)
            appAppleId: \(app.appAppleId)
            environments: [\(app.environment.rawValue)]
        workers:
          \(worker):
            retryDelays: [\(size.delays.joined(separator: ", "))]
            recordsInFlight: \(size.recordsInFlight)
            onStop: \(size.leavesOnStop ? "leave" : "keep")

        """)
  }
}
