// The requests that callers made and the rules they broke, for the report at the end of a scenario or during it.

package import AppStore

/// The API's part of a report.
package struct APIReport: Sendable, Hashable {
  /// The requests to one endpoint.
  package struct Requests: Sendable, Hashable {
    /// The endpoint.
    package let endpoint: SimulatedEndpoint
    /// The number of responses by HTTP status.
    package let byStatus: [Int: Int]
    /// The number of responses by Apple's error code.
    package let byErrorCode: [Int64: Int]
    /// The number of requests whose connection was reset.
    package let withoutAnswer: Int
    /// The number of requests that a fault affected.
    package let struckByFaults: Int
    /// The busiest hour of each app and environment: the admitted requests and the limit.
    package let fullestHours: [Hour]

    /// The number of all requests.
    package var count: Int { byStatus.values.reduce(withoutAnswer, +) }
  }

  /// The busiest hour of one app in one environment.
  package struct Hour: Sendable, Hashable {
    /// The app.
    package let bundleId: String
    /// The environment.
    package let environment: AppStoreEnvironment
    /// The number of requests within the limit.
    package let admitted: Int
    /// The limit; nil if there is none.
    package let limit: Int?
  }

  /// The breaches of one rule.
  package struct Breach: Sendable, Hashable {
    /// The rule.
    package let rule: CallerRule
    /// The number of breaches.
    package let count: Int
    /// The first few breaches, as text.
    package let examples: [String]
  }

  /// The requests by endpoint, in the order of ``SimulatedEndpoint``. Endpoints without requests are omitted.
  package let asked: [Requests]
  /// The broken rules. A successful rehearsal leaves this empty.
  package let broken: [Breach]
}

extension APIServices {
  /// The report so far.
  package var report: APIReport {
    gate.withGate { gate in
      let asked = SimulatedEndpoint.allCases.compactMap { endpoint in
        gate.journal.answers[endpoint].map { answers in
          APIReport.Requests(
            endpoint: endpoint, byStatus: answers.byStatus, byErrorCode: answers.byErrorCode,
            withoutAnswer: answers.withoutAnswer, struckByFaults: answers.struckByFaults,
            fullestHours: gate.limits.fullestHours(of: endpoint))
        }
      }
      let broken = CallerRule.allCases.compactMap { rule in
        gate.journal.breaches[rule].map { breaches in
          APIReport.Breach(
            rule: rule, count: breaches.count,
            examples: breaches.examples.map { example in
              [example.time.rfc3339, example.endpoint?.rawValue, example.detail].compactMap { $0 }
                .joined(separator: " ")
            })
        }
      }
      return APIReport(asked: asked, broken: broken)
    }
  }
}

extension HourlyLimits {
  fileprivate func fullestHours(of endpoint: SimulatedEndpoint) -> [APIReport.Hour] {
    fullest.filter { $0.key.endpoint == endpoint }
      .map { subject, usage in
        APIReport.Hour(
          bundleId: subject.bundleId, environment: subject.environment, admitted: usage.admitted,
          limit: settings.perHour(endpoint, in: subject.environment))
      }
      .sorted { ($0.bundleId, $0.environment.rawValue) < ($1.bundleId, $1.environment.rawValue) }
  }
}

extension APIReport {
  /// The report as JSON; each rule includes its explanation.
  package var json: JSONObject {
    [
      "asked": .array(asked.map { .object($0.json) }),
      "rulesBroken": .array(
        broken.map { breach in
          [
            "rule": .string(breach.rule.rawValue), "count": .integer(Int64(breach.count)),
            "explanation": .string(breach.rule.explanation),
            "examples": .array(breach.examples.map { .string($0) }),
          ]
        }),
    ]
  }
}

extension APIReport.Requests {
  fileprivate var json: JSONObject {
    [
      "endpoint": .string(endpoint.rawValue),
      "count": .integer(Int64(count)),
      "byStatus": .object(Self.counts(byStatus)),
      "byErrorCode": .object(Self.counts(byErrorCode)),
      "withoutAnswer": .integer(Int64(withoutAnswer)),
      "struckByFaults": .integer(Int64(struckByFaults)),
      "fullestHours": .array(
        fullestHours.map { hour in
          var json: JSONObject = [
            "bundleId": .string(hour.bundleId), "environment": .string(hour.environment.rawValue),
            "admitted": .integer(Int64(hour.admitted)),
          ]
          json["limit"] = hour.limit.map { .integer(Int64($0)) }
          return .object(json)
        }),
    ]
  }

  private static func counts<Key: Comparable & CustomStringConvertible>(_ counts: [Key: Int]) -> JSONObject {
    JSONObject(
      counts.sorted { $0.key < $1.key }.map {
        JSONObject.Member(key: $0.key.description, value: .integer(Int64($0.value)))
      })
  }
}
