// `millrace verify`

import Clocks
public import ArgumentParser
import Millrace
import Operations

extension SignedDataKind: ExpressibleByArgument {}

struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Tell whether Apple signed a notification, a transaction, renewal info or an app transaction.",
    discussion: """
      Prints one JSON object: {"valid": true, "inner": "verified", …} with the decoded payload, or \
      {"valid": false, "reason": "chain", "message": …}. Ends with 0 when it is valid, with 1 when it is not.

      The outer token decides. "inner" says what the tokens inside a notification turned out to be: verified, mismatch \
      (genuine, but of another app, environment or subscription) or forged. Millrace admits only verified.

      Without --bundle-id, --app-apple-id and --environment the apps of the configuration count, without a configuration \
      file any app. Without --root its trust.roots count, else Apple Root CA - G3.

      Examples:
        millrace verify notification.jws
        curl -s https://example.com/last-notification | millrace verify -
        millrace verify --bundle-id com.example.app body.json
        millrace verify --kind transaction --root test-root.der token.jws
      """)

  @Option(
    help: ArgumentHelp("A root certificate to trust, DER or PEM; may be given more than once.", valueName: "file"))
  var root: [String] = []

  @Option(help: ArgumentHelp("The bundle identifier it must be for.", valueName: "id"))
  var bundleId: String?

  @Option(help: ArgumentHelp("The app's Apple ID it must be for; judged in Production only.", valueName: "number"))
  var appAppleId: Int64?

  @Option(help: ArgumentHelp("The environment it must be for: Production or Sandbox.", valueName: "name"))
  var environment: String?

  @Option(help: "What it is.")
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
