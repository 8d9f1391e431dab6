// The token of Amazon MSK's IAM access control: a signed URL, which the broker presents to AWS.
// https://github.com/aws/aws-msk-iam-auth and Amazon's Signature Version 4, query parameters:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html

internal import AppStore
internal import Crypto
internal import KafkaClient

/// A signed request of the action `kafka-cluster:Connect`.
struct MSKToken {
  /// The token, as the broker receives it.
  let token: KafkaToken

  /// How long AWS accepts the signature, in seconds.
  private static let lifetime: Int64 = 900

  /// Signs the request at a time, whose milliseconds are ignored.
  init(region: String, credentials: AWSCredentials, at time: Timestamp) {
    let second = time.millisecondsSince1970 / 1_000
    // 20260131T120000Z
    let stamp = Timestamp(millisecondsSince1970: second * 1_000).rfc3339.filter { !"-:".contains($0) }.prefix(15) + "Z"
    let day = stamp.prefix(8)
    let scope = "\(day)/\(region)/kafka-cluster/aws4_request"
    var parameters = [
      QueryItem("Action", "kafka-cluster:Connect"), QueryItem("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
      QueryItem("X-Amz-Credential", "\(credentials.accessKeyId)/\(scope)"), QueryItem("X-Amz-Date", String(stamp)),
      QueryItem("X-Amz-Expires", "\(Self.lifetime)"), QueryItem("X-Amz-SignedHeaders", "host"),
    ]
    if let session = credentials.sessionToken { parameters.append(QueryItem("X-Amz-Security-Token", session)) }
    let host = "kafka.\(region).amazonaws.com"
    let request = [
      "GET", "/", parameters.sorted { $0.name < $1.name }.encodedQuery, "host:\(host)", "", "host", Self.hash(""),
    ].joined(separator: "\n")
    let text = ["AWS4-HMAC-SHA256", String(stamp), scope, Self.hash(request)].joined(separator: "\n")
    var key = SymmetricKey(data: Array("AWS4\(credentials.secretAccessKey)".utf8))
    for part in [String(day), region, "kafka-cluster", "aws4_request"] {
      key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Array(part.utf8), using: key))
    }
    let signature = Hex.text(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key))
    let url = "https://\(host)/?\(parameters.encodedQuery)&X-Amz-Signature=\(signature)&User-Agent=millrace"
    let end = (second + Self.lifetime) * 1_000
    token = KafkaToken(
      value: String(decoding: Base64.encodeURL(url.utf8), as: UTF8.self),
      expiresAt: min(end, credentials.expiresAt?.millisecondsSince1970 ?? end), principal: credentials.accessKeyId)
  }

  private static func hash(_ text: String) -> String { Hex.text(SHA256.hash(data: Array(text.utf8))) }
}
