// The endpoint: verifies the signature of a request, asks the worker, and answers with its outcome. An error of the
// worker becomes an answer 500, and Millrace sends the request again later.

import Crypto
import Foundation
import HTTPTypes
import Hummingbird

/// The routes of the endpoint.
func router(secretFile: String) -> Router<BasicRequestContext> {
  let router = Router()
  router.post("/notifications") { request, context -> Response in
    let body = Data(try await request.body.collect(upTo: 4 << 20).readableBytesView)
    // Reads the secret for each request: it can be replaced while the process runs.
    guard isGenuine(request.headers, body, try readKey(secretFile)) else {
      return problem(.unauthorized, "the signature is missing or wrong")
    }
    let event: CloudEvent
    do {
      event = try JSONDecoder().decode(CloudEvent.self, from: body)
    } catch {
      return problem(.badRequest, "the body is not a CloudEvent")
    }
    do {
      guard let outcome = try decide(event.data) else { return Response(status: .noContent) }
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys  // A repeated request has the same bytes.
      return answer(.ok, "application/json", try encoder.encode(outcome))
    } catch {
      context.logger.error("the worker failed: \(error)")
      return problem(.internalServerError, "the worker failed")
    }
  }
  return router
}

/// Reads the key of the signature. `whsec_` and Base64, or the text itself.
func readKey(_ file: String) throws -> SymmetricKey {
  let secret = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
  let key = secret.hasPrefix("whsec_") ? Data(base64Encoded: String(secret.dropFirst(6))) : Data(secret.utf8)
  guard let key, !key.isEmpty else { throw SecretError(file: file) }
  return SymmetricKey(data: key)
}

struct SecretError: Error { var file: String }

/// Verifies a signature by Standard Webhooks (standardwebhooks.com). Times more than five minutes away are refused.
func isGenuine(_ headers: HTTPFields, _ body: Data, _ key: SymmetricKey, now: Date = Date()) -> Bool {
  func header(_ name: String) -> String { HTTPField.Name("webhook-\(name)").flatMap { headers[$0] } ?? "" }
  let (id, time) = (header("id"), header("timestamp"))
  guard !id.isEmpty, let seconds = Int(time), abs(now.timeIntervalSince1970 - Double(seconds)) <= 300 else {
    return false
  }
  let signed = Data("\(id).\(time).".utf8) + body
  return header("signature").split(separator: " ").contains { signature in
    guard signature.hasPrefix("v1,"), let code = Data(base64Encoded: String(signature.dropFirst(3))) else {
      return false
    }
    return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: signed, using: key)
  }
}

private func problem(_ status: HTTPResponse.Status, _ title: String) -> Response {
  // Titles need no escaping.
  answer(status, "application/problem+json", Data(#"{"title":"\#(title)","status":\#(status.code)}"#.utf8))
}

private func answer(_ status: HTTPResponse.Status, _ type: String, _ body: Data) -> Response {
  Response(status: status, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
}
