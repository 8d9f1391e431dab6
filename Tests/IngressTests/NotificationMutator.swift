// Makes invalid notifications of both versions from valid ones.

import AppStore
import AppStoreSigning
import Foundation
import MillraceWorker

/// Mutates valid notifications, in the same way for the same seed. A mutation changes signed or secret bytes, or breaks
/// the JSON around them, so no result is valid.
struct NotificationMutator {
  private var random: SeededGenerator
  private let tokens: [[UInt8]]
  private let bodies: [String]

  init(_ fixture: IngressFixture, seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    var samples = SampleNotifications(chain: fixture.chain, app: fixture.app, seed: seed)
    tokens = try samples.everyKind(from: IngressFixture.signedDate).map(\.jws)
    var samplesV1 = SampleNotificationsV1(app: fixture.app, password: IngressFixture.password, seed: seed)
    bodies = NotificationTypeV1.allKnown.map {
      String(decoding: samplesV1.next($0, at: IngressFixture.signedDate).body, as: UTF8.self)
    }
  }

  /// Returns the next mutated request. Half are version 1. Some of version 2 have a broken body around a valid token.
  mutating func next() -> Load.Post {
    switch Int.random(in: 0..<8, using: &random) {
    case 0..<4: Load.Post(path: "/v1", body: nextV1())
    case 4: Load.Post(path: "/v2", body: nextWrapper())
    default: Load.Post(path: "/v2", body: Self.wrap(nextToken()))
    }
  }

  private static func wrap(_ token: [UInt8]) -> [UInt8] {
    Array(#"{"signedPayload":""#.utf8) + token + Array(#""}"#.utf8)
  }

  private mutating func nextToken() -> [UInt8] {
    var token = tokens.randomElement(using: &random) ?? []
    switch Int.random(in: 0..<6, using: &random) {
    case 0:
      for _ in 0..<Int.random(in: 1...4, using: &random) { change(&token) }
    case 1: token.removeLast(Int.random(in: 1..<token.count, using: &random))
    case 2: token.remove(at: Int.random(in: 0..<token.count, using: &random))
    case 3: token.insert(UInt8(ascii: "A"), at: Int.random(in: 0..<token.count, using: &random))
    case 4:
      let other = tokens.randomElement(using: &random) ?? []
      let segments = token.split(separator: UInt8(ascii: "."))
      let others = other.split(separator: UInt8(ascii: "."))
      token = Array(segments[0]) + [46] + Array(others[1]) + [46] + Array(segments[2])
      if other == tokens.first(where: { $0 == token }) { change(&token) }
    default:
      let segments = token.split(separator: UInt8(ascii: "."))
      token = Array(segments.shuffled(using: &random).joined(separator: [46]))
      if tokens.contains(token) { change(&token) }
    }
    return token
  }

  private mutating func change(_ token: inout [UInt8]) {
    let index = Int.random(in: 0..<token.count, using: &random)
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=".utf8)
    token[index] = alphabet.filter { $0 != token[index] }.randomElement(using: &random) ?? 0x21
  }

  /// Returns broken JSON, or JSON with a valid token in an unexpected place.
  private mutating func nextWrapper() -> [UInt8] {
    let token = String(decoding: tokens.randomElement(using: &random) ?? [], as: UTF8.self)
    let sound = #"{"signedPayload":"\#(token)"}"#
    let text =
      switch Int.random(in: 0..<7, using: &random) {
      case 0: String(sound.prefix(Int.random(in: 0..<sound.count, using: &random)))
      case 1: #"{"signedPayload":"\q\#(token)"}"#
      case 2: #"{"signedPayload":["\#(token)"]}"#
      case 3: #"{"signedpayload":"\#(token)"}"#
      case 4: #"[{"signedPayload":"\#(token)"}]"#
      case 5: sound + "}"
      default: #"{"signedPayload":"\u000\#(token)"}"#
      }
    return Array(text.utf8)
  }

  /// Returns a version 1 body with a wrong secret, without a secret, or with broken JSON.
  private mutating func nextV1() -> [UInt8] {
    let sound = bodies.randomElement(using: &random) ?? ""
    let password = IngressFixture.password
    let member = #""password":"\#(password)""#
    switch Int.random(in: 0..<9, using: &random) {
    case 0:
      var changed = Array(password.utf8)
      let index = Int.random(in: 0..<changed.count, using: &random)
      changed[index] = changed[index] == 0x7A ? 0x79 : 0x7A
      return replacing(member, #""password":"\#(String(decoding: changed, as: UTF8.self))""#, in: sound)
    case 1:
      let cut = password.prefix(Int.random(in: 0..<password.count, using: &random))
      return replacing(member, #""password":"\#(cut)""#, in: sound)
    case 2: return replacing(member, #""password":"\#(password)0""#, in: sound)
    case 3: return replacing(member + ",", "", in: sound)
    case 4: return Array(sound.utf8.prefix(Int.random(in: 0..<sound.utf8.count, using: &random)))
    case 5: return replacing(#""notification_type":""#, #""notification_type":"\q"#, in: sound)
    case 6:
      let other = ["null", "12", "true", "[]", "{}", #"["\#(password)"]"#].randomElement(using: &random) ?? ""
      return replacing(member, #""password":\#(other)"#, in: sound)
    case 7: return replacing(#""notification_type":""#, #""notification_type":7,"other":""#, in: sound)
    default: return replacing(member, member + #","password":"another""#, in: sound)
    }
  }

  private func replacing(_ old: String, _ new: String, in text: String) -> [UInt8] {
    guard let range = text.range(of: old) else { return [] }
    return Array(text.replacingCharacters(in: range, with: new).utf8)
  }
}
