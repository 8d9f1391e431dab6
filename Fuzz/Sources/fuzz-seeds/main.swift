// Writes the seeds of a fuzzing run: `fuzz-seeds DIRECTORY`. This is a separate program, so that the fuzzer contains
// neither a signing key nor a signer.
//
// DIRECTORY/root.der      the root to trust
// DIRECTORY/genuine.txt   every genuine token, one a line
// DIRECTORY/jws           genuine and forged tokens
// DIRECTORY/payload       their payloads, inner ones included
// DIRECTORY/v1            version 1 bodies
internal import AppStore
internal import AppStoreSigning
internal import Foundation

let seed: UInt64 = 20_260_101
let signedDate = Timestamp(millisecondsSince1970: 1_767_225_600_000)

guard CommandLine.arguments.count == 2 else {
  print("usage: fuzz-seeds DIRECTORY")
  exit(64)
}
let directory = URL(fileURLWithPath: CommandLine.arguments[1], isDirectory: true)

func write(_ bytes: [UInt8], _ path: String) throws {
  let url = directory.appendingPathComponent(path)
  try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
  try Data(bytes).write(to: url)
}

func fileName(_ text: String) -> String { text.replacingOccurrences(of: "/", with: "-") }

func payload(of jws: [UInt8]) -> [UInt8]? {
  let segments = jws.split(separator: UInt8(ascii: "."))
  return segments.count == 3 ? Base64.decodeURL(segments[1]) : nil
}

let chain = try SigningChain.generate(at: signedDate, seed: seed)
try write(chain.rootDER, "root.der")

var samples = SampleNotifications(chain: chain, seed: seed)
var genuine: [UInt8] = []
for sample in try samples.everyKind(from: signedDate) {
  let name = fileName("\(sample.kind)")
  genuine += sample.jws + [UInt8(ascii: "\n")]
  try write(sample.jws, "jws/\(name)")
  guard let outer = payload(of: sample.jws) else { continue }
  try write(outer, "payload/\(name)")
  let data = try ResponseBodyV2DecodedPayload(parsing: outer).data
  for (part, token) in [("transaction", data?.signedTransactionInfo), ("renewal", data?.signedRenewalInfo)] {
    if let token, let inner = payload(of: Array(token.utf8)) { try write(inner, "payload/\(name)-\(part)") }
  }
}
try write(genuine, "genuine.txt")

for forgery in try Forgeries(chain: chain, signedDate: signedDate, seed: seed).all() {
  try write(forgery.jws, "jws/forged-\(fileName(forgery.label))")
}

var bodies = SampleNotificationsV1(password: "0123456789abcdef0123456789abcdef", seed: seed)
for type in NotificationTypeV1.allKnown {
  try write(bodies.next(type, at: signedDate).body, "v1/\(type.rawValue)")
}
// Spellings of the secret that generated bodies do not have.
let spellings = [
  #"{"password":"a"}"#, #"{ "p\u0061ssword" : "a" , "notification_type":"CANCEL" }"#,
  #"{"notification_type":"CANCEL","password":"a","password":"b"}"#, "{\n\t\"x\": 1,\n\t\"password\": null\n}",
  #"{"password":{"password":"a"},"x":{"password":"b"}}"#,
]
for (index, text) in spellings.enumerated() { try write(Array(text.utf8), "v1/spelling-\(index)") }
