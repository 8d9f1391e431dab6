// `/simulator/…`: inspects and controls the simulator during a rehearsal. Not part of Apple's API; needs no token.

package import AppStore
internal import HTTPTypes

/// The functions that the control endpoints need from the rest of the simulator.
package struct SimulatorControl: Sendable {
  /// Returns the report without the API's part.
  package var report: @Sendable () -> JSONObject
  /// Triggers an event, described as in a scenario, and returns the name of its action.
  package var cause: @Sendable (JSONObject) throws -> String
  /// The root certificate of the signing chain, in PEM.
  package var rootPEM: String

  /// Control over a simulator.
  package init(
    rootPEM: String, report: @escaping @Sendable () -> JSONObject = { [:] },
    cause: @escaping @Sendable (JSONObject) throws -> String
  ) {
    self.rootPEM = rootPEM
    self.report = report
    self.cause = cause
  }
}

/// Responds to paths that begin with `/simulator/`.
struct ControlEndpoints: Sendable {
  static let prefix = "/simulator/"

  let services: APIServices
  let control: SimulatorControl
  let now: @Sendable () -> Timestamp

  /// Responds to a request. An invalid request receives 400 with the reason.
  func answer(_ request: IncomingRequest) -> APIAnswer {
    let path = request.path.dropFirst(Self.prefix.count).split(separator: "/", omittingEmptySubsequences: false)
    switch (request.method, path.first, path.count) {
    case (.get, "report", 1): return .json(merged(services.report.json, control.report()))
    case (.get, "journal", 1): return .json(["requests": .array(recent)])
    case (.get, "faults", 1): return .json(["faults": .array(faults)])
    case (.post, "faults", 1): return attempt { .json(["id": .integer(Int64(try inject(request.body)))], status: 201) }
    case (.delete, "faults", 2):
      guard let id = path.last.flatMap({ Int($0) }), services.removeFault(id) else { return .empty(404) }
      return .empty(204)
    case (.post, "events", 1):
      return attempt { .json(["done": .string(try control.cause(try JSONObject(parsing: request.body)))]) }
    case (.get, "orders", 2):
      guard let order = path.last.flatMap({ Int64($0) }).flatMap(services.orderNumber) else { return .empty(404) }
      return .json(["orderId": .string(order)])
    case (.get, "root.pem", 1):
      return APIAnswer(
        status: 200, headers: [.init(name: "Content-Type", value: "application/x-pem-file")],
        body: Array(control.rootPEM.utf8))
    default: return .json(["error": "no such control endpoint or method; docs/simulator.md lists them"], status: 404)
    }
  }

  private func attempt(_ body: () throws -> APIAnswer) -> APIAnswer {
    do {
      return try body()
    } catch let error as ScenarioError {
      return .json(error.json, status: 400)
    } catch let error as FaultDescriptionError {
      return .json(error.json, status: 400)
    } catch {
      return .json(["error": .string(String(describing: error))], status: 400)
    }
  }

  private func inject(_ body: [UInt8]) throws -> Int {
    services.inject(try Fault(json: JSONObject(parsing: body), origin: now()))
  }

  private func merged(_ first: JSONObject, _ second: JSONObject) -> JSONObject {
    JSONObject([JSONObject.Member(key: "now", value: .string(now().rfc3339))] + first.members + second.members)
  }

  private var faults: [JSON] {
    services.gate.withGate { $0.faults.entries }.map { entry in
      [
        "id": .integer(Int64(entry.id)), "effect": .string(entry.fault.effect.name),
        "struck": .integer(Int64(entry.struck)),
      ]
    }
  }

  private var recent: [JSON] {
    services.gate.withGate { $0.journal.recent }.map { entry in
      var json: JSONObject = [
        "time": .string(entry.time.rfc3339), "environment": .string(entry.environment.rawValue),
        "path": .string(entry.path),
      ]
      json["bundleId"] = entry.bundleId.map { .string($0) }
      json["endpoint"] = entry.endpoint.map { .string($0.rawValue) }
      json["status"] = entry.status.map { .integer(Int64($0)) }
      json["errorCode"] = entry.errorCode.map { .integer($0) }
      json["fault"] = entry.fault.map { .string($0) }
      return .object(json)
    }
  }
}
