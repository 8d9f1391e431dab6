// HTTP in front of the intake: limits before work, then the body, then the answer.

internal import Clocks
internal import HTTPTypes
internal import AppStore
internal import Hummingbird
internal import Logging
internal import Millrace
internal import NIOCore

/// Answers requests; everything it refuses is counted by reason.
struct IngressResponder: HTTPResponder {
  typealias Context = BasicRequestContext

  let intake: NotificationIntake
  let limits: IngressSettings.BodyLimits
  let retryAfter: Int64
  let places: InFlightLimit
  let bodies: BodyBudget
  let clock: MillraceClock
  let metrics: IngressMetrics

  private static let traceParentHeader = HTTPField.Name("traceparent")

  func respond(to request: Request, context: Context) async throws -> Response {
    let started = clock.now
    let version = NotificationVersion(path: request.uri.path)
    defer { metrics.observe(request: started.duration(to: clock.now), inFlight: places.current) }
    do {
      try await handle(request, version)
      return Response(status: .ok)
    } catch {
      metrics.refuse(version, error)
      return error.problem.response(retryAfter: retryAfter, closes: error.closesConnection)
    }
  }

  private func handle(_ request: Request, _ version: NotificationVersion?) async throws(RefusedRequest) {
    guard let version else { throw .wrongPath }
    guard request.method == .post else { throw .wrongMethod }
    let limit = version == .v1 ? limits.v1 : limits.v2
    let announced = request.headers[.contentLength].flatMap { Int($0) } ?? limit
    guard announced <= limit else { throw .tooLarge }
    let traceParent = TraceParent.continuing(Self.traceParentHeader.flatMap { request.headers[$0] })
    var held = 0
    defer { bodies.giveBack(held) }
    let body = try await read(request, upTo: limit, announced: announced, holding: &held)
    // Only now, so that a body that never ends takes no place from one that is there.
    let outcome = await places.withPlace { () -> Result<Void, RefusedRequest> in
      do throws(RefusedRequest) {
        return .success(try await intake.take(body, as: version, traceParent: traceParent))
      } catch {
        return .failure(error)
      }
    }
    guard let outcome else { throw .busy }
    try outcome.get()
  }

  /// The body as one array. Its time limit is the connection's (``ConnectionGuard``), its size limit is checked here
  /// because a chunked body announces none. Its share of the budget grows with what has arrived, and stays `held` until
  /// the answer.
  private func read(
    _ request: Request, upTo limit: Int, announced: Int, holding held: inout Int
  ) async throws(RefusedRequest) -> [UInt8] {
    var body: [UInt8] = []
    do {
      for try await part in request.body {
        let size = body.count + part.readableBytes
        guard size <= limit else { throw RefusedRequest.tooLarge }
        if size > held {
          let room = BodyBudget.room(for: size, announced: announced)
          guard bodies.take(room - held) else { throw RefusedRequest.busy }
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
