internal import Synchronization
package import Tracing

/// A span in progress. Its end passes it to the exporter; what is set afterwards is ignored.
package final class RecordedSpan: Span {
  /// The context of the span's children.
  package let context: ServiceContext
  let place: SpanContext
  private let parentID: [UInt8]?
  private let kind: SpanKind
  private let start: UInt64
  private let finished: @Sendable (FinishedSpan) -> Void
  private let state: Mutex<State>

  private struct State {
    var name: String
    var attributes: SpanAttributes = [:]
    var events: [SpanEvent] = []
    var links: [SpanLink] = []
    var status: SpanStatus?
    var hasEnded = false
  }

  init(
    _ name: String, _ place: SpanContext, below parentID: [UInt8]?, in context: ServiceContext, kind: SpanKind,
    start: UInt64, finished: @escaping @Sendable (FinishedSpan) -> Void
  ) {
    self.place = place
    self.parentID = parentID
    self.kind = kind
    self.start = start
    self.finished = finished
    state = Mutex(State(name: name))
    var own = context
    place.write(to: &own)
    self.context = own
  }

  /// Whether the span is exported.
  package var isRecording: Bool { place.isSampled && state.withLock { !$0.hasEnded } }

  /// The name.
  package var operationName: String {
    get { state.withLock { $0.name } }
    set { change { $0.name = newValue } }
  }

  /// The attributes.
  package var attributes: SpanAttributes {
    get { state.withLock { $0.attributes } }
    set { change { $0.attributes = newValue } }
  }

  /// Sets the status.
  package func setStatus(_ status: SpanStatus) { change { $0.status = status } }

  /// Adds an event.
  package func addEvent(_ event: SpanEvent) { change { $0.events.append(event) } }

  /// Adds a link.
  package func addLink(_ link: SpanLink) { change { $0.links.append(link) } }

  /// Adds the event `exception` (OpenTelemetry's conventions for exceptions) and sets the status.
  package func recordError<Instant: TracerInstant>(
    _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
  ) {
    var attributes = attributes
    attributes["exception.type"] = String(reflecting: type(of: error))
    attributes["exception.message"] = "\(error)"
    addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
    setStatus(SpanStatus(code: .error, message: nil))
  }

  /// Ends the span. Only the first call has an effect.
  package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
    let end = instant().nanosecondsSinceEpoch
    let last = state.withLock { state -> State? in
      guard !state.hasEnded else { return nil }
      defer { state.hasEnded = true }
      return state
    }
    guard let last, place.isSampled else { return }
    finished(
      FinishedSpan(
        place: place, parentID: parentID, name: last.name, kind: kind, start: start, end: end,
        attributes: last.attributes, events: last.events, links: last.links, status: last.status))
  }

  private func change(_ body: (inout State) -> Void) {
    guard place.isSampled else { return }
    state.withLock { state in
      if !state.hasEnded { body(&state) }
    }
  }
}

/// A span that has ended. Times are nanoseconds since 1970.
struct FinishedSpan: Sendable {
  var place: SpanContext
  /// The id of the parent; `nil`: the span is the first of its trace.
  var parentID: [UInt8]?
  var name: String
  var kind: SpanKind
  var start: UInt64
  var end: UInt64
  var attributes: SpanAttributes = [:]
  var events: [SpanEvent] = []
  var links: [SpanLink] = []
  var status: SpanStatus?
}
