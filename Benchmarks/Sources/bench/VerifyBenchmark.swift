// Compares complete verification with its indispensable part, the signature check.
import AppStore
import AppStoreSignature
import ArgumentParser

struct VerifyBenchmark: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Compares verifying and decoding a 17 kB notification, chain cached, with raw P-256 checks.")

  @OptionGroup var output: OutputOptions
  @Option(help: "The pairs of rounds; the result is the median ratio.") var rounds = 21
  @Option(help: "The seconds of a round.") var seconds = 0.25
  @Option(help: "The project's directory.") var project = "."

  func run() async throws {
    let token = try Token.load(beside: project)
    let verifier = try token.verifier()
    // From here on the chain is cached.
    guard try await verifier.verifyNotification(token.jws, identity: .any).inner == .verified else {
      throw BenchError("the inner tokens of \(token.name) do not verify")
    }
    let measure = Rounds(token: token, verifier: verifier, seconds: seconds, count: rounds)
    let outer = try await measure.pairs({ measure.raw(1, $0) }, { try await measure.outer($0) })
    let inner = try await measure.pairs({ measure.raw(token.checks.count, $0) }, { try await measure.withInner($0) })
    let scaling = try await measure.scaling()
    print(output.json ? line(token, outer, inner, scaling) : table(token, outer, inner, scaling))
  }

  private func line(_ token: Token, _ outer: Pairs, _ inner: Pairs, _ scaling: Pairs) -> String {
    var object = JSONObject()
    object["benchmark"] = .string("verify")
    object["token"] = .string(token.name)
    object["bytes"] = .integer(Int64(token.jws.count))
    object.set("rawPerCPUSecond", outer.baseline)
    object.set("verifyPerCPUSecond", outer.ours)
    object.set("ratio", outer.ratio)
    var withInner = JSONObject()
    withInner["rawChecks"] = .integer(Int64(token.checks.count))
    withInner.set("rawPerCPUSecond", inner.baseline)
    withInner.set("verifyPerCPUSecond", inner.ours)
    withInner.set("ratio", inner.ratio)
    object["withInner"] = .object(withInner)
    object.set("oneTaskPerSecond", scaling.baseline)
    object.set("twoTasksPerSecond", scaling.ours)
    object.set("coreScaling", scaling.ratio)
    object["rounds"] = .integer(Int64(rounds))
    return object.line
  }

  private func table(_ token: Token, _ outer: Pairs, _ inner: Pairs, _ scaling: Pairs) -> String {
    var table = Table(titles: ["verify", "baseline/s", "ours/s", "ratio"])
    func row(_ name: String, _ pairs: Pairs) -> [String] {
      [name, Numbers.whole(pairs.baseline), Numbers.whole(pairs.ours), Numbers.fixed(pairs.ratio, 3)]
    }
    table.rows = [
      row("outer token, against one raw P-256 check", outer),
      row("with inner tokens, against \(token.checks.count) raw P-256 checks", inner),
      row("two cores, against one", scaling),
    ]
    return """
      \(table.text)
      \(token.name), \(token.jws.count) bytes; per CPU second (the last row: per second); medians of \(rounds) alternating rounds
      """
  }
}
