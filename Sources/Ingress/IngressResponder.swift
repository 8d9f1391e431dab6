// The HTTP handler of the ingress: it checks limits, reads the body, passes it to the intake and responds.

internal import HTTPTypes
internal import AppStore
internal import Hummingbird
internal import Logging
internal import MillraceRecords
internal import NIOCore
internal import Tracing

/// Handles requests and counts refusals by reason.
struct IngressResponder: HTTPResponder {
  typealias Context = BasicRequestContext

  let intake: NotificationIntake
  let heads: HeadCheck
  let retryAfter: Int64
  let places: InFlightLimit
  let bodies: BodyBudget
  let times: IngressTimes
  let metrics: IngressMetrics
  /// Nil: requests have no spans.
  let tracer: (any Tracer)?

  private static let traceParentHeader = HTTPField.Name("traceparent")

  func respond(to request: Request, context: Context) async throws -> Response {
    let started = ContinuousClock.now
    let version = NotificationVersion(path: request.uri.path)
    defer { metrics.observe(request: started.duration(to: .now), inFlight: places.current) }
    do {
      try await handle(request, started)
      return Response(status: .ok)
    } catch {
      metrics.refuse(version, error)
      let response = error.problem.response(retryAfter: retryAfter, closes: error.closesConnection)
      // A body after the head would look like the next response to a proxy.
      return request.method == .head ? response.createHeadResponse() : response
    }
  }

  private func handle(_ request: Request, _ started: ContinuousClock.Instant) async throws(RefusedRequest) {
    let announced = try heads.check(request.head)
    let given = Self.traceParentHeader.flatMap { request.headers[$0] }
    let span = tracer.flatMap { RequestSpan(given, path: request.uri.path, by: $0) }
    do {
      try await handle(request, announced, span?.traceParent ?? .continuing(given), span?.context, started)
      span?.end()
    } catch {
      span?.end(error)
      throw error
    }
  }

  private func handle(
    _ request: Request, _ announced: HeadCheck.Announcement, _ traceParent: TraceParent, _ context: ServiceContext?,
    _ started: ContinuousClock.Instant
  ) async throws(RefusedRequest) {
    var held = 0
    defer { bodies.giveBack(held) }
    let body = try await read(request, announced, holding: &held)
    // Count the request only now, so that incomplete bodies do not block complete ones.
    let outcome = await places.withPlace { () -> Result<Void, RefusedRequest> in
      await Self.below(context) {
        do throws(RefusedRequest) {
          return .success(
            try await intake.accept(
              body, as: announced.version, traceParent: traceParent, until: times.kafkaDeadline(from: started)))
        } catch {
          return .failure(error)
        }
      }
    }
    guard let outcome else { throw .busy }
    try outcome.get()
  }

  /// Runs `body` below a span, if there is one.
  private static func below<Value: Sendable>(
    _ context: ServiceContext?, _ body: () async -> Value
  ) async -> Value {
    guard let context else { return await body() }
    return await ServiceContext.withValue(context) { await body() }
  }

  /// Reads the body into one array. ``ConnectionGuard`` enforces the time limit. The size limit is checked here because
  /// a chunked body announces no size. The reserved budget grows with the received bytes and stays `held` until the
  /// response.
  private func read(
    _ request: Request, _ announced: HeadCheck.Announcement, holding held: inout Int
  ) async throws(RefusedRequest) -> [UInt8] {
    var body: [UInt8] = []
    do {
      for try await part in request.body {
        let size = body.count + part.readableBytes
        guard size <= announced.limit else { throw RefusedRequest.tooLarge }
        if size > held {
          let room = BodyBudget.room(for: size, announced: announced.size)
          guard bodies.reserve(room - held) else { throw RefusedRequest.busy }
          held = room
          body.reserveCapacity(room)
        }
        body.append(contentsOf: part.readableBytesView)
      }
    } catch let refused as RefusedRequest {
      throw refused
    } catch {
      throw .incomplete
    }
    return body
  }
}

extension NotificationVersion {
  init?(path: String) {
    switch path {
    case "/v1": self = .v1
    case "/v2": self = .v2
    default: return nil
    }
  }
}
