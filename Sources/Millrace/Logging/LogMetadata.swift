// What of a line's metadata is shown: no secrets, nothing long enough to be a payload.

internal import Logging

enum LogMetadata {
  /// The most bytes of one value; a signed notification has 17 kB.
  static let limit = 1_024

  /// All metadata of a line, what stands nearest to the event winning, by name.
  static func merged(
    _ own: Logger.Metadata, _ provider: Logger.MetadataProvider?, _ event: LogEvent
  ) -> [(key: String, value: Logger.MetadataValue)] {
    guard provider != nil || event.metadata != nil || !own.isEmpty else { return [] }
    var merged = own
    if let provider { merged.merge(provider.get()) { $1 } }
    if let metadata = event.metadata { merged.merge(metadata) { $1 } }
    return merged.sorted { $0.key < $1.key }
  }

  /// A value as it may be shown under its name.
  static func shown(_ text: String, key: String) -> String { isSecret(key) ? SecretFile.mask : cut(text) }

  /// The text, cut to ``limit``.
  static func cut(_ text: String) -> String {
    guard text.utf8.count > limit else { return text }
    return String(decoding: text.utf8.prefix(limit), as: UTF8.self) + "… (\(text.utf8.count) bytes)"
  }

  private static func isSecret(_ key: String) -> Bool {
    let key = key.lowercased()
    return ["password", "secret", "authorization", "signedpayload", "privatekey"].contains { key.contains($0) }
  }
}
