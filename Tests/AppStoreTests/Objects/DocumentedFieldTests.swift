import TestEnvironment
import Testing

@testable import AppStore

struct DocumentedFieldTests {
  @Test(arguments: Model.all)
  func eachPropertyReadsAndWritesTheFieldOfItsName(model: Model) {
    func check<Object: AppStoreObject>(_: Object.Type) {
      #expect(Set(Object.documentedFields.map(\.name)).count == Object.documentedFields.count)
      for field in Object.documentedFields {
        var object = Object()
        #expect(field.value(in: object) == nil)
        field.write(field.kind.sample, &object)
        #expect(object.json.members == [JSONObject.Member(key: field.name, value: field.kind.sample)])
        #expect(field.value(in: object) == field.kind.sample)
        object.json = [field.name: field.kind.sample]
        #expect(field.value(in: object) == field.kind.sample)
      }
    }
    check(model.type)
  }

  @Test(arguments: Model.all)
  func aFieldOfTheWrongTypeReadsAsNilAndAllOthersStillRead(model: Model) {
    func check<Object: AppStoreObject>(_: Object.Type) {
      let full = Object.full
      #expect(full.oddFields.isEmpty)
      for field in Object.documentedFields {
        for wrong in field.kind.wrong {
          var object = full
          object.json[field.name] = wrong
          #expect(object.oddFields == [OddField(path: field.name, expected: field.kind, found: wrong.kind)])
          // Version 1 reads text and numbers from either, see `ResponseBodyV1ValuesTests`.
          let isRead = object is any TextOrNumberObject && [.string, .integer].contains(field.kind)
          for other in Object.documentedFields where !isRead || other.name != field.name {
            #expect(other.value(in: object) == (other.name == field.name ? nil : other.kind.sample))
          }
          #expect((try? Object(parsing: object.serialized())) == object)
        }
      }
    }
    check(model.type)
  }

  @Test(
    .enabled(if: SharedMaterial.isPresent, "needs Apple's list of fields next to the checkout"), arguments: Model.all
  )
  func theDocumentedFieldsAreThoseOfTheListOfApplesFields(model: Model) throws {
    func check<Object: AppStoreObject>(_: Object.Type) throws {
      let names = [
        "NotificationSummary": "Summary", "LatestReceiptInfo": "UnifiedReceiptLatestReceiptInfo",
        "PendingRenewalInfo": "UnifiedReceiptPendingRenewalInfo", "APIErrorBody": "ErrorPayload",
      ]
      let models = try SharedMaterial.json("app-store-facts/models.json")["models"]
      guard case .object(let all) = models, case .object(let listed) = all[names["\(Object.self)"] ?? "\(Object.self)"],
        case .array(let fields) = listed["fields"]
      else {
        Issue.record("no list for \(Object.self)")
        return
      }
      var expected: [String: String] = [:]
      for case .object(let field) in fields {
        expected[String(jsonValue: try #require(field["name"])) ?? ""] = String(jsonValue: try #require(field["type"]))
      }
      let ours = Dictionary(uniqueKeysWithValues: Object.documentedFields.map { ($0.name, $0.kind.rawValue) })
      for (name, type) in expected { #expect(ours[name] == type, "\(name)") }
      // The list lacks fields of version 1 bodies from before 2020.
      if !["ResponseBodyV1", "LatestReceiptInfo"].contains("\(Object.self)") {
        #expect(Set(ours.keys) == Set(expected.keys))
      }
    }
    try check(model.type)
  }
}
