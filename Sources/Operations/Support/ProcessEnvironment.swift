// The environment of this process. All other code receives it as a value.

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The environment variables that this process was started with.
package enum ProcessEnvironment {
  /// The variables by name.
  package static var current: [String: String] { ProcessInfo.processInfo.environment }
  /// The name of the machine or the pod; nil if the environment does not have it.
  package static var hostName: String? { current["HOSTNAME"] }
}
