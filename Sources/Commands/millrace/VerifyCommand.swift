// `millrace verify`

import MillraceTime
internal import ArgumentParser
import MillraceWorker
import Operations

extension SignedDataKind: ExpressibleByArgument {}

struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check that Apple signed a notification, a transaction, renewal info or an app transaction.",
    discussion: """
      Prints one JSON object: {"valid": true, "inner": "verified", …} with the decoded payload, or \
      {"valid": false, "reason": "chain", "message": …}. Exits with 0 if it is valid, otherwise with 1.

      The outer token decides. "inner" is the result for the tokens inside a notification: verified, mismatch \
      (genuine, but of another app, environment or subscription) or forged. Millrace admits only verified.

      Without --bundle-id, --app-apple-id and --environment, the configured apps are accepted; without a configuration \
      file, any app. Without --root, trust.roots applies, else Apple Root CA - G3. If trust.revocation is enabled, \
      checks certificates at their OCSP responder as the ingress does; without a configuration file, does not.

      Examples:
        millrace verify notification.jws
        curl -s https://example.com/last-notification | millrace verify -
        millrace verify --bundle-id com.example.app body.json
        millrace verify --kind transaction --root test-root.der token.jws
      """)

  @Option(
    help: ArgumentHelp("A root certificate to trust, DER or PEM; may be repeated.", valueName: "file"))
  var root: [String] = []

  @Option(help: ArgumentHelp("The expected bundle ID.", valueName: "id"))
  var bundleId: String?

  @Option(help: ArgumentHelp("The expected Apple ID of the app; checked in Production only.", valueName: "number"))
  var appAppleId: Int64?

  @Option(help: ArgumentHelp("The expected environment: Production or Sandbox.", valueName: "name"))
  var environment: String?

  @Option(help: "The kind of the token.")
  var kind = SignedDataKind.notification

  @Argument(
    help: ArgumentHelp(
      "A file with a compact JWS, or with the body Apple posted ({\"signedPayload\": …}); - for standard input.",
      valueName: "file"))
  var file: String

  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let command = self
    try await conclude { console in
      let request = try VerifyRequest(
        roots: command.root, bundleId: command.bundleId, appAppleId: command.appAppleId,
        environment: command.environment, kind: command.kind)
      let configuration = try command.shared.loadIfNamed()
      let verification = Verification(
        verifier: try request.verifier(configuration, clock: .system), identity: request.identity(configuration),
        kind: request.kind)
      let report = await verification.report(on: try VerifySource.read(command.file))
      try console.out.line(report.line)
      return report.status
    }
  }
}
