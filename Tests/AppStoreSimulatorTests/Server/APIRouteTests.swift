import AppStore
import HTTPTypes
import TestEnvironment
import Testing

@testable import AppStoreSimulator

@Suite struct APIRouteTests {
  @Test(arguments: SimulatedEndpoint.allCases)
  func `every endpoint is found by its path and method`(endpoint: SimulatedEndpoint) {
    let path = endpoint.path.replacing(#/\{[A-Za-z]+\}/#, with: "2000000123456789")
    let count = endpoint.path.count { $0 == "{" }
    #expect(
      APIRoute.match(endpoint.method, path: path)
        == .route(APIRoute(endpoint: endpoint, parameters: Array(repeating: "2000000123456789", count: count))))
  }

  @Test func `the path of mass extensions is not a subscription`() {
    #expect(
      APIRoute.match(.post, path: "/inApps/v1/subscriptions/extend/mass")
        == .route(APIRoute(endpoint: .massExtendRenewalDate, parameters: [])))
    #expect(
      APIRoute.match(.get, path: "/inApps/v1/subscriptions/extend/mass/pro.monthly/a-b")
        == .route(APIRoute(endpoint: .getMassExtendStatus, parameters: ["pro.monthly", "a-b"])))
  }

  @Test func `the path of the image list is not an image`() {
    #expect(
      APIRoute.match(.get, path: "/inApps/v1/messaging/image/list")
        == .route(APIRoute(endpoint: .getImageList, parameters: [])))
    #expect(APIRoute.match(.get, path: "/inApps/v1/messaging/image/x") == .wrongMethod(allowed: ["PUT", "DELETE"]))
  }

  @Test func `a parameter may contain characters that a path cannot`() {
    #expect(
      APIRoute.match(.get, path: "/inApps/v1/lookup/a%2Fb%20%C3%A9")
        == .route(APIRoute(endpoint: .lookUpOrderId, parameters: ["a/b é"])))
    for wrong in ["%", "%2", "%zz", "%FF"] {
      #expect(APIRoute.match(.get, path: "/inApps/v1/lookup/" + wrong) == .nothing)
    }
  }

  @Test func `another method of a known path gets the allowed methods`() {
    #expect(
      APIRoute.match(.delete, path: "/inApps/v1/lookup/MX1") == .wrongMethod(allowed: ["GET"]))
  }

  @Test(arguments: [
    "", "/", "/inApps/v1/lookup/", "/inApps/v1/lookup", "/inApps/v3/history/1", "/inApps/v1/lookup/a/b",
    "inApps/v1/lookup/a",
  ])
  func `any other path is unknown`(path: String) {
    #expect(APIRoute.match(.get, path: path) == .nothing)
  }

  @Test(.enabled(if: SharedMaterial.isPresent, "../shared is absent"))
  func `names, methods, paths and limits match the documentation`() throws {
    guard case .array(let items) = try SharedMaterial.json("app-store-facts/endpoints.json")["endpoints"] else {
      Issue.record("endpoints.json has no endpoints")
      return
    }
    var seen: Set<SimulatedEndpoint> = []
    let groups: [JSON?] = ["app-store-server-api", "retention-messaging"]
    for case .object(let item) in items where groups.contains(item["group"]) {
      let name = try #require(item["name"].flatMap(String.init(jsonValue:)))
      let endpoint = try #require(SimulatedEndpoint(rawValue: name), "\(name)")
      seen.insert(endpoint)
      #expect(item["method"] == .string(endpoint.method.rawValue), "\(name)")
      #expect(item["path"] == .string(endpoint.path), "\(name)")
      let limit: Double? =
        switch item["rateLimitPerSecondProduction"] {
        case .integer(let limit): Double(limit)
        case .number(let text): Double(text)
        default: nil
        }
      #expect(endpoint.documentedPerSecond == limit, "\(name)")
    }
    #expect(seen == Set(SimulatedEndpoint.allCases))
  }
}
