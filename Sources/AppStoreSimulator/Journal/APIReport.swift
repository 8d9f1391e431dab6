// What callers asked and which rules they broke, for the report at the end and for whoever looks in between.

public import AppStore

/// The API's part of a report.
public struct APIReport: Sendable, Hashable {
  /// Requests by endpoint, in the order of ``APIEndpoint``; endpoints that nobody called are left out.
  public struct Asked: Sendable, Hashable {
    /// The endpoint.
    public let endpoint: APIEndpoint
    /// Answers by HTTP status.
    public let byStatus: [Int: Int]
    /// Answers by Apple's error code.
    public let byErrorCode: [Int64: Int]
    /// Requests whose connection was reset.
    public let withoutAnswer: Int
    /// Requests that a fault struck.
    public let struckByFaults: Int
    /// The fullest hours: for each app and environment how many requests were admitted, and how many might have been.
    public let fullestHours: [Hour]

    /// All requests.
    public var count: Int { byStatus.values.reduce(withoutAnswer, +) }
  }

  /// The fullest hour of one app in one environment.
  public struct Hour: Sendable, Hashable {
    /// The app.
    public let bundleId: String
    /// The environment.
    public let environment: AppStoreEnvironment
    /// Requests inside the limit.
    public let admitted: Int
    /// The limit; nil: none.
    public let limit: Int?
  }

  /// A rule that callers broke.
  public struct Breach: Sendable, Hashable {
    /// The rule.
    public let rule: CallerRule
    /// How often.
    public let count: Int
    /// The first few cases, in words.
    public let examples: [String]
  }

  /// What was asked.
  public let asked: [Asked]
  /// What was done wrong; empty is what a rehearsal is for.
  public let broken: [Breach]
}

extension APIServices {
  /// What happened so far.
  public var report: APIReport {
    gate.withGate { gate in
      let asked = APIEndpoint.allCases.compactMap { endpoint in
        gate.journal.answers[endpoint].map { answers in
          APIReport.Asked(
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
  fileprivate func fullestHours(of endpoint: APIEndpoint) -> [APIReport.Hour] {
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
  /// The report as JSON, rules with their explanation.
  public var json: JSONObject {
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

extension APIReport.Asked {
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
