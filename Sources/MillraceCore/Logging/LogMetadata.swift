// Masks secrets in a line's metadata and truncates values that are long enough to be payloads.

internal import Logging

enum LogMetadata {
  /// The maximum size of a value, in bytes. A signed notification has 17 kB.
  static let limit = 1_024

  /// Returns all metadata of a line, sorted by name. The event's values override the provider's, which override the
  /// logger's own.
  static func merged(
    _ own: Logger.Metadata, _ provider: Logger.MetadataProvider?, _ event: LogEvent
  ) -> [(key: String, value: Logger.MetadataValue)] {
    guard provider != nil || event.metadata != nil || !own.isEmpty else { return [] }
    var merged = own
    if let provider { merged.merge(provider.get()) { $1 } }
    if let metadata = event.metadata { merged.merge(metadata) { $1 } }
    return merged.sorted { $0.key < $1.key }
  }

  /// Returns a value with secrets masked and long text truncated.
  static func shown(_ text: String, key: String) -> String { isSecret(key) ? SecretFile.mask : cut(text) }

  /// Returns the text, truncated to ``limit``.
  static func cut(_ text: String) -> String {
    guard text.utf8.count > limit else { return text }
    return String(decoding: text.utf8.prefix(limit), as: UTF8.self) + "… (\(text.utf8.count) bytes)"
  }

  private static func isSecret(_ key: String) -> Bool {
    let key = key.lowercased()
    return ["password", "secret", "authorization", "signedpayload", "privatekey"].contains { key.contains($0) }
  }
}
