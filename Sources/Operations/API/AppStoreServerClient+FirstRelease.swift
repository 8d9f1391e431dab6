// Production answers 401 for an app that was never released. Commands that look something up then ask the sandbox.

package import AppStoreServerAPI
internal import Synchronization

extension AppStoreServerClient {
  /// Returns the client that asks the sandbox after production's 401, for reads without a named environment.
  ///
  /// - Parameter note: Receives the 401 and its meaning, once.
  package func askingSandboxBeforeRelease(_ note: @escaping @Sendable (String) -> Void) -> AppStoreServerClient {
    let notes = FirstCall()
    var client = self
    client.onUnreleased = { error in
      guard notes.isFirst() else { return }
      note("\(error)")
      note("Production answers 401 until the app's first release. Asking the sandbox.")
    }
    return client
  }
}

private final class FirstCall: Sendable {
  private let isOver = Atomic(false)

  func isFirst() -> Bool { !isOver.exchange(true, ordering: .relaxed) }
}
