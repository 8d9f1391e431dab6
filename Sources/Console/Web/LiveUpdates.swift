// Sections of the page, pushed when they change (server-sent events, HTML Living Standard 9.2).

internal import AppStore
internal import Clocks
internal import Hummingbird
internal import NIOCore
internal import ServiceLifecycle
internal import Synchronization

/// Decides what a page that shows some state has to be sent. A value.
struct LiveSections: Sendable {
  private var sent: [String: HTML] = [:]

  /// The events for what has changed since the last time.
  mutating func changes(in sections: [(id: String, html: HTML)]) -> String {
    var events = ""
    for section in sections where sent[section.id] != section.html {
      sent[section.id] = section.html
      let json: JSONObject = ["id": .string(section.id), "html": .string(section.html.text)]
      // JSON has no line feed outside of strings, and escapes those inside.
      events += "event: section\ndata: \(String(decoding: JSON.object(json).serialized(), as: UTF8.self))\n\n"
    }
    return events
  }
}

/// Pushes sections to whoever listens, so many at a time.
struct LiveUpdates: Sendable {
  let clock: MillraceClock
  let places: LivePlaces
  let sections: @Sendable () async -> [(id: String, html: HTML)]

  static let interval = Duration.seconds(1)
  /// Silence that a proxy may take for a dead connection.
  static let heartbeat = 15

  /// Writes until the reader is gone or the process leaves.
  func write(to writer: inout any ResponseBodyWriter) async throws {
    // Taken here and not before: only who is written to has a place, and gives it back.
    guard places.take() else { return try await writer.write("retry: 30000\n: too many pages are kept up to date\n\n") }
    defer { places.giveBack() }
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

/// Live pages at one time; each costs a rendering a second.
final class LivePlaces: Sendable {
  static let limit = 64
  private let taken = Mutex(0)

  func take() -> Bool {
    taken.withLock { taken in
      guard taken < Self.limit else { return false }
      taken += 1
      return true
    }
  }

  func giveBack() { taken.withLock { $0 -= 1 } }
}
