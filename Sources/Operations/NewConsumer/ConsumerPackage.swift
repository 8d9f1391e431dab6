// `millrace new consumer`: a package that builds, is tested and runs, and says where to go on.

/// The files of a new consumer's package.
public struct ConsumerPackage: Sendable, Hashable {
  /// Where Millrace itself comes from.
  public enum Dependency: Sendable, Hashable {
    /// A Git repository, from this version on.
    case version(url: String, String)
    /// A checkout, absolute or relative to the package.
    case path(String)

    var line: String {
      switch self {
      case .version(let url, let version): ".package(url: \"\(url)\", from: \"\(version)\")"
      case .path(let path): ".package(name: \"millrace\", path: \"\(path)\")"
      }
    }

    /// Where the topic files are once SwiftPM has fetched what there is to fetch.
    var topics: String {
      switch self {
      case .version: ".build/checkouts/millrace/topics"
      case .path(let path): "\(path)/topics"
      }
    }
  }

  /// One file.
  public struct File: Sendable, Hashable {
    /// Relative to the package.
    public var path: String
    /// What it holds.
    public var text: String
  }

  /// The files, by path.
  public let files: [File]

  /// The package of a consumer.
  public init(_ name: ConsumerName, dependency: Dependency) {
    files = [
      File(path: ".dockerignore", text: ".build/\n"),
      File(path: ".gitignore", text: ".build/\nPackage.resolved\n"),
      File(path: "Dockerfile", text: Self.dockerfile(name)),
      File(path: "Package.swift", text: Self.manifest(name, dependency)),
      File(path: "README.md", text: Self.readme(name)),
      File(path: "Sources/\(name.type)/\(name.type).swift", text: Self.source(name)),
      File(path: "Tests/\(name.type)Tests/\(name.type)Tests.swift", text: Self.test(name)),
      File(path: "chart-values.yaml", text: Self.chartValues(name)),
      File(path: "millrace.yaml", text: Self.configuration(name, dependency)),
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
        .executableTarget(name: "\(name.type)", dependencies: [.product(name: "Millrace", package: "millrace")]),
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
    import Millrace

    /// Says which subscribers left on purpose, so that somebody can ask them back.
    @main
    struct \(name.type): NotificationWorker {
      static let name = "\(name.name)"
      static let families: Set<NotificationFamily> = [.subscriptions]

      init(_ setup: WorkerSetup) {}

      func handle(_ notification: Notification, in context: HandlerContext) async throws -> Outcome {
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
      @Test func `a subscriber who leaves on purpose is told of, once`() async throws {
        try await WorkerHarness.run(\(name.type).self) { harness in
          let notification = try await harness.receive(.expired, .voluntary)
          try await harness.receive(again: notification)
          #expect(try await harness.events().map(\\.name) == ["subscriber.left"])
        }
      }

      @Test func `a renewal is no news`() async throws {
        try await WorkerHarness.run(\(name.type).self) { harness in
          try await harness.receive(.didRenew)
          #expect(try await harness.events().isEmpty)
          #expect(try await harness.deadLetters().isEmpty)
        }
      }
    }

    """
  }

  private static func configuration(_ name: ConsumerName, _ dependency: Dependency) -> String {
    """
    # All keys: docs/configuration.md, or `millrace config --reference`.
    kafka:
      bootstrapServers: localhost:9092
      durability: relaxed # development: one broker
    topics:
      directory: \(dependency.topics)
    apps:
      - bundleId: com.example.app
        environments: [Sandbox]
    workers:
      - name: \(name.name)

    """
  }

  private static func dockerfile(_ name: ConsumerName) -> String {
    """
    # The build takes Millrace from its repository: with a path in Package.swift, put a URL there first.
    ARG BUILD_IMAGE=swift:6.3-bookworm
    ARG RUN_IMAGE=debian:bookworm-slim

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
    COPY --from=build /package/.build/checkouts/millrace/topics /etc/millrace/topics
    ENV MILLRACE_TOPICS_DIRECTORY=/etc/millrace/topics
    USER 65532:65532
    ENTRYPOINT ["/usr/local/bin/\(name.name)"]

    """
  }

  private static func chartValues(_ name: ConsumerName) -> String {
    """
    # For the chart of Millrace: helm upgrade … --values chart-values.yaml, beside the values you have.
    consumers:
      \(name.name):
        enabled: true
        image: {repository: registry.example.com/\(name.name), tag: "0.1.0"}
        replicas: 2
        families: [subscriptions]
        # Whether it gets the keys of the App Store Server API (config.apps[].api).
        appStoreAPI: false
        # With KEDA: by the lag of the families above, never beyond config.topics.lanes.
        autoscaling: {enabled: false, minReplicas: 1, maxReplicas: 4, lagThreshold: 1000}

    """
  }

  private static func readme(_ name: ConsumerName) -> String {
    """
    # \(name.name)

    A consumer of App Store Server Notifications on Millrace. Its decision is in `Sources/\(name.type)/\(name.type).swift`,
    its tests turn time by hand and need no Kafka.

        swift test
        swift run \(name.type) --config millrace.yaml

    `Dockerfile` makes its image; `chart-values.yaml` is its entry for the chart of Millrace, which runs it.

    The topics it needs come with `millrace topics apply --config millrace.yaml`: it names this worker under `workers`.

    """
  }
}
