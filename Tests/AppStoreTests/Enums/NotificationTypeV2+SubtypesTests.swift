import AppStore
import TestEnvironment
import Testing

struct NotificationTypeV2SubtypesTests {
  @Test(.enabled(if: SharedMaterial.isPresent, "needs the list of Apple's pairs next to the checkout"))
  func thePairsAreThoseOfTheListOfApplesPairs() throws {
    guard case .object(let pairs) = try SharedMaterial.json("app-store-facts/enums.json")["typeSubtypePairs"] else {
      Issue.record("no list of pairs")
      return
    }
    #expect(pairs.members.count == NotificationTypeV2.allKnown.count)
    for type in NotificationTypeV2.allKnown {
      guard case .array(let listed) = pairs[type.rawValue] else {
        Issue.record("\(type) is not in the list")
        continue
      }
      // The list has remarks after the name: `CREATED (only …)`.
      let names = listed.compactMap(String.init(jsonValue:)).compactMap {
        $0.split(separator: " ").first.map(String.init)
      }
      #expect(Set(type.subtypes.map(\.rawValue)) == Set(names), "\(type)")
      #expect(type.subtypes.count == names.count, "\(type)")
    }
  }

  @Test func anUnknownTypeHasNoSubtypes() {
    #expect(NotificationTypeV2(rawValue: "NEVER_SEEN").subtypes.isEmpty)
  }
}
