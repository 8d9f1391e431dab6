// Pushes sections of a page when they change (server-sent events, HTML Living Standard 9.2).

internal import AppStore
internal import MillraceTime
internal import Hummingbird
internal import NIOCore
internal import ServiceLifecycle

/// Decides which sections have to be sent to a page. A value.
struct LiveSections: Sendable {
  private var sent: [String: HTML] = [:]

  /// Returns events for the sections that changed since the last call.
  mutating func changes(in sections: [(id: String, html: HTML)]) -> String {
    var events = ""
    for section in sections where sent[section.id] != section.html {
      sent[section.id] = section.html
      let json: JSONObject = ["id": .string(section.id), "html": .string(section.html.text)]
      // Serialized JSON contains no line feeds, which would end the event.
      events += "event: section\ndata: \(String(decoding: JSON.object(json).serialized(), as: UTF8.self))\n\n"
    }
    return events
  }
}

/// Pushes sections to pages, within a quota.
struct LiveUpdates: Sendable {
  let clock: MillraceClock
  let quota: AdmissionQuota
  let sections: @Sendable () async -> [(id: String, html: HTML)]

  static let interval = Duration.seconds(1)
  /// Intervals without a change after which a comment keeps proxies from closing the connection.
  static let heartbeat = 15

  /// Writes until the client disconnects or the process shuts down.
  func write(to writer: inout any ResponseBodyWriter) async throws {
    guard let admission = quota.admit() else {
      return try await writer.write("retry: 30000\n: too many live pages\n\n")
    }
    defer { admission.end() }
    var live = LiveSections()
    var silent = 0
    try await writer.write("retry: 2000\n\n")
    while !Task.isCancelled, !Task.isShuttingDownGracefully {
      let events = live.changes(in: await sections())
      silent = events.isEmpty ? silent + 1 : 0
      if !events.isEmpty { try await writer.write(events) }
      if silent >= Self.heartbeat {
        silent = 0
        try await writer.write(": still here\n\n")
      }
      try await clock.sleep(for: Self.interval)
    }
  }
}
