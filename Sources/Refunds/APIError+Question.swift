// Which of Apple's refusals are about what was asked.

internal import AppStore
internal import AppStoreServerAPI

extension APIError {
  /// Whether no later call can bring another answer, because of what was asked and not of who asked.
  var isAboutTheQuestion: Bool {
    switch kind {
    case .violation: true
    case .refused: code != nil && errorClass == .never
    default: false
    }
  }
}
