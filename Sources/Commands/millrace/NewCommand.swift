// `millrace new consumer`

import ArgumentParser
import MillraceCore
import Operations

struct NewCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new",
    abstract: "Create a package of your own.",
    discussion: """
      Examples:
        millrace new consumer winback --millrace-path ../millrace
        millrace new consumer winback --language python
      """,
    subcommands: [Consumer.self])

  struct Consumer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Create a consumer's package: source, tests, configuration, Dockerfile, chart values.",
      discussion: """
        The package builds, passes its tests and runs. Continue with docs/writing-a-consumer.md. In another language than \
        Swift it is an HTTP endpoint behind millrace-worker; continue with docs/writing-a-worker-in-python.md.

        Examples:
          millrace new consumer winback --millrace-path ../millrace
          millrace new consumer winback --directory consumers/winback --millrace-path ../../millrace
          millrace new consumer winback --language python
        """)

    /// The language of the consumer.
    enum Language: String, CaseIterable, ExpressibleByArgument {
      case swift, python, typescript, java
    }

    @Argument(help: "Lower-case letters, digits and hyphens. It identifies the worker and cannot be changed later.")
    var name: String

    @Option(help: ArgumentHelp("The directory; by default one of that name, here.", valueName: "path"))
    var directory: String?

    @Option(help: "The language.")
    var language = Language.swift

    @Option(
      help: ArgumentHelp("A checkout of Millrace, absolute or relative to the package.", valueName: "path"))
    var millracePath: String?

    @Option(help: ArgumentHelp("Millrace's Git repository; this version is the minimum.", valueName: "url"))
    var millraceURL: String?

    func validate() throws {
      if millracePath != nil, millraceURL != nil {
        throw ValidationError("Pass --millrace-path or --millrace-url, not both.")
      }
      if language != .swift, millracePath != nil || millraceURL != nil {
        throw ValidationError("Only a consumer in Swift needs the source of Millrace; remove the option.")
      }
      if language == .swift, millracePath == nil, millraceURL == nil {
        throw ValidationError("Pass the source of Millrace with --millrace-path or --millrace-url.")
      }
    }

    func run() async throws {
      let command = self
      try await conclude { console in
        let name = try ConsumerName(command.name)
        let directory = command.directory ?? name.name
        let package =
          ConsumerPackage.Language(rawValue: command.language.rawValue).map { ConsumerPackage(name, language: $0) }
          ?? ConsumerPackage(name, dependency: command.dependency)
        try package.write(to: directory)
        try console.out.lines(package.files.map { "\(directory)/\($0.path)" })
        console.err.note(
          command.language == .swift ? "next: cd \(directory) && swift test" : "next: read \(directory)/README.md")
        return .success
      }
    }

    private var dependency: ConsumerPackage.Dependency {
      if let millraceURL { return .version(url: millraceURL, MillraceVersion.current) }
      return .path(millracePath ?? "")
    }
  }
}
