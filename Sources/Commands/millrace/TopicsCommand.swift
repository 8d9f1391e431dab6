// `millrace topics plan` and `millrace topics apply`. ACLsCommand.swift has `millrace topics acls`, RelaneCommand.swift
// `millrace topics relane`.

import ArgumentParser
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceTime
import Operations

struct TopicsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "topics",
    abstract: "Compare the topic files with a cluster, create or alter topics, and print the rights to them.",
    discussion: """
      Never deletes a topic, and never changes the partition count of a topic with keys, which would break their order.

      Examples:
        millrace topics plan --config millrace.yaml
        millrace topics apply --yes
        millrace topics acls --format kafka-acls
        millrace topics relane --from-prefix shop-4. --dry-run
      """,
    subcommands: [Plan.self, Apply.self, ACLs.self, RelaneCommand.self])

  struct Plan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show what apply would do.",
      discussion: """
        Exits with 1 if the cluster differs in a way that apply refuses to change.

        Examples:
          millrace topics plan
          millrace topics plan --json | jq 'select(.action != "keep")'
        """)

    @Flag(help: "One JSON object per step.")
    var json = false

    @OptionGroup var shared: SharedOptions

    func run() async throws {
      let (json, shared) = (self.json, self.shared)
      try await conclude { console in
        let operation = try TopicsOperation(try shared.load().configuration, console: console)
        let survey = try await operation.survey()
        try show(survey, asJSON: json, on: console)
        return survey.status
      }
    }
  }

  struct Apply: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show the difference, ask, then create and alter topics.",
      discussion: """
        Exits with 1 if a step was refused or failed. The other steps are applied anyway. The audit trail has a line for \
        it (millrace audit).

        Examples:
          millrace topics apply
          millrace topics apply --yes --by ann
        """)

    @Flag(help: "Apply without confirmation, for scripts.")
    var yes = false

    @Option(help: ArgumentHelp("The operator; by default this user.", valueName: "name"))
    var by: String?

    @OptionGroup var shared: SharedOptions

    func run() async throws {
      let (yes, by, shared) = (self.yes, self.by, self.shared)
      try await conclude { console in
        let configuration = try shared.load().configuration
        let operation = try TopicsOperation(configuration, console: console)
        let survey = try await operation.survey()
        try show(survey, asJSON: false, on: console)
        if let objection = survey.objection { throw objection }
        guard !survey.changes.isEmpty else { return survey.status }
        let author = try CommandingOptions.author(by)
        let question = "Apply \(HumanText.count(survey.changes.count, "change"))?"
        let approval = try Approval.of(
          isGiven: yes, canAsk: StandardInput.isTerminal, question: question
        ) { question in
          console.err.note(question)
          return StandardInput.readLine()
        }
        guard approval == .granted else {
          console.err.note("nothing was changed")
          return .failure
        }
        let audit = AuditLog(on: try await configuration.connect(console), prefix: configuration.topics.prefix)
        let failures = try await operation.apply(
          survey, by: author, recordedIn: audit, clock: MillraceClock(configuration.clock)
        ) { console.err.note($0) }
        for failure in failures { console.err.note("failed: \(failure)") }
        return failures.isEmpty ? survey.status : .failure
      }
    }
  }
}

extension TopicsOperation {
  fileprivate init(_ configuration: MillraceConfiguration, console: Console) throws(MillraceError) {
    let catalog = try TopicCatalog.load(configuration)
    let kafka = try configuration.cluster(console)
    self.init(kafka, catalog: catalog, durability: configuration.kafka.durability)
  }
}

private func show(_ survey: TopicsSurvey, asJSON: Bool, on console: Console) throws {
  if asJSON {
    try console.out.lines(survey.jsonLines)
  } else {
    try console.out.text(survey.plan.table())
  }
  for problem in survey.replicas.problems { console.err.note("\(problem)") }
}
