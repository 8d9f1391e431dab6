// Implements `millrace new consumer`: the files of a package that builds, passes its tests and runs.

/// The files of a new consumer's package.
package struct ConsumerPackage: Sendable, Hashable {
  /// The source of the Millrace dependency.
  package enum Dependency: Sendable, Hashable {
    /// A Git repository and its minimum version.
    case version(url: String, String)
    /// The path of a checkout, absolute or relative to the package.
    case path(String)

    var line: String {
      switch self {
      case .version(let url, let version): ".package(url: \"\(url)\", from: \"\(version)\")"
      case .path(let path): ".package(name: \"millrace\", path: \"\(path)\")"
      }
    }
  }

  /// One file.
  package struct File: Sendable, Hashable {
    /// The path relative to the package.
    package var path: String
    /// The content.
    package var text: String
  }

  /// The files, sorted by path.
  package let files: [File]

  /// Creates the package of a consumer.
  package init(_ name: ConsumerName, dependency: Dependency) {
    files = [
      File(path: ".dockerignore", text: ".build/\n"),
      File(path: ".gitignore", text: ".build/\nPackage.resolved\n"),
      File(path: "Dockerfile", text: Self.dockerfile(name)),
      File(path: "Package.swift", text: Self.manifest(name, dependency)),
      File(path: "README.md", text: Self.readme(name)),
      File(path: "Sources/\(name.type)/\(name.type).swift", text: Self.source(name)),
      File(path: "Tests/\(name.type)Tests/\(name.type)Tests.swift", text: Self.test(name)),
      File(path: "chart-values.yaml", text: Self.chartValues(name)),
      File(path: "millrace.yaml", text: Self.configuration(name)),
    ]
  }

  private static func manifest(_ name: ConsumerName, _ dependency: Dependency) -> String {
    """
    // swift-tools-version: 6.2
    import PackageDescription

    let package = Package(
      name: "\(name.name)",
      platforms: [.macOS(.v15)],
      dependencies: [
        \(dependency.line)
      ],
      targets: [
        .executableTarget(name: "\(name.type)", dependencies: [.product(name: "MillraceWorker", package: "millrace")]),
        .testTarget(
          name: "\(name.type)Tests",
          dependencies: ["\(name.type)", .product(name: "MillraceTesting", package: "millrace")]),
      ]
    )

    """
  }

  private static func source(_ name: ConsumerName) -> String {
    """
    import AppStore
    import MillraceWorker

    /// Publishes an event for each subscriber who cancelled, for example to send a win-back offer.
    @main
    struct \(name.type): NotificationWorker {
      static let name = "\(name.name)"
      static let families: Set<NotificationFamily> = [.subscriptions]

      init(_ setup: WorkerSetup) {}

      func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
        guard case .expired(.voluntary) = notification.event else { return .ignore }
        return try .emit(SubscriberLeft(product: notification.transaction?.productId))
      }
    }

    struct SubscriberLeft: WorkerEvent {
      static let eventName = "subscriber.left"
      var product: String?
    }

    """
  }

  private static func test(_ name: ConsumerName) -> String {
    """
    import AppStore
    import MillraceTesting
    import Testing

    @testable import \(name.type)

    @Suite struct \(name.type)Tests {
      @Test func `a subscriber who cancels causes one event`() async throws {
        try await WorkerHarness.run(\(name.type).self) { harness in
          let notification = try await harness.receive(.expired, .voluntary)
          try await harness.receive(again: notification)
          #expect(try await harness.events().map(\\.name) == ["subscriber.left"])
        }
      }

      @Test func `a renewal causes no event`() async throws {
        try await WorkerHarness.run(\(name.type).self) { harness in
          try await harness.receive(.didRenew)
          #expect(try await harness.events().isEmpty)
          #expect(try await harness.deadLetters().isEmpty)
        }
      }
    }

    """
  }

  private static func configuration(_ name: ConsumerName) -> String {
    """
    # All keys: docs/configuration.md, or `millrace config --reference`.
    kafka:
      bootstrapServers: localhost:9092
      durability: relaxed # development: one broker
    apps:
      - bundleId: com.example.app
        environments: [Sandbox]
    workers:
      \(name.name): {}

    """
  }

  private static func dockerfile(_ name: ConsumerName) -> String {
    """
    # The build fetches Millrace from its repository. If Package.swift has a path, replace it with a URL first.
    ARG BUILD_IMAGE=swift:6.3-bookworm
    ARG RUN_IMAGE=debian:trixie-slim

    FROM ${BUILD_IMAGE} AS build
    RUN apt-get update && apt-get install -y --no-install-recommends librdkafka-dev && rm -rf /var/lib/apt/lists/*
    WORKDIR /package
    COPY . .
    RUN swift build -c release --static-swift-stdlib --product \(name.type) \\
      && install -s "$(swift build -c release --static-swift-stdlib --show-bin-path)/\(name.type)" /\(name.name)

    FROM ${RUN_IMAGE}
    RUN apt-get update && apt-get install -y --no-install-recommends librdkafka1 ca-certificates \\
      && rm -rf /var/lib/apt/lists/*
    COPY --from=build /\(name.name) /usr/local/bin/\(name.name)
    USER 65532:65532
    ENTRYPOINT ["/usr/local/bin/\(name.name)"]

    """
  }

  private static func chartValues(_ name: ConsumerName) -> String {
    """
    # For Millrace's Helm chart: helm upgrade … --values chart-values.yaml, in addition to your own values.
    consumers:
      \(name.name):
        enabled: true
        image: {repository: registry.example.com/\(name.name), tag: "0.1.0"}
        replicas: 2
        families: [subscriptions]
        # Whether the consumer gets the keys of the App Store Server API (config.apps[].api).
        appStoreAPI: false
        # KEDA scales by the lag of the families above, up to config.topics.lanes.
        autoscaling: {enabled: false, minReplicas: 1, maxReplicas: 4, lagThreshold: 1000}

    """
  }

  private static func readme(_ name: ConsumerName) -> String {
    """
    # \(name.name)

    A consumer of App Store Server Notifications on Millrace. `Sources/\(name.type)/\(name.type).swift` has the handler;
    the tests control time and need no Kafka.

        swift test
        swift run \(name.type) --config millrace.yaml

    `Dockerfile` builds its image. `chart-values.yaml` adds it to Millrace's Helm chart, which runs it.

    Create its topics with `millrace topics apply --config millrace.yaml`; the file names this worker under `workers`.

    """
  }
}
