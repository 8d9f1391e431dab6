// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

/// A library target with the settings every module of ours is held to.
func library(
  _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [], resources: [Resource] = []
) -> Target {
  .target(name: name, dependencies: dependencies, exclude: exclude, resources: resources, swiftSettings: strict)
}

/// One folder below `Sources/Commands` for each executable: parse arguments, wire, run.
func command(_ name: String, folder: String? = nil, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Sources/Commands/\(folder ?? name)", swiftSettings: strict)
}

/// What tests of several modules share: a target, because test targets cannot be imported.
func testSupport(_ name: String, folder: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, path: "Tests/\(folder)", swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
  .testTarget(name: "\(name)Tests", dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let hummingbirdTesting = Target.Dependency.product(name: "HummingbirdTesting", package: "hummingbird")
let hummingbirdTLS = Target.Dependency.product(name: "HummingbirdTLS", package: "hummingbird")
let jwtKit = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let nioCertificateReloading = Target.Dependency.product(name: "NIOCertificateReloading", package: "swift-nio-extras")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTPTypes = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioHPACK = Target.Dependency.product(name: "NIOHPACK", package: "swift-nio-http2")
let nioHTTP2 = Target.Dependency.product(name: "NIOHTTP2", package: "swift-nio-http2")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let swiftASN1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")
let inMemoryTracing = Target.Dependency.product(name: "InMemoryTracing", package: "swift-distributed-tracing")
let tracing = Target.Dependency.product(name: "Tracing", package: "swift-distributed-tracing")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

let package = Package(
  name: "millrace",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "KafkaClient", targets: ["KafkaClient"]),
    .library(name: "AppStore", targets: ["AppStore"]),
    .library(name: "AppStoreSignature", targets: ["AppStoreSignature"]),
    .library(name: "AppStoreSigning", targets: ["AppStoreSigning"]),
    .library(name: "AppStoreServerAPI", targets: ["AppStoreServerAPI"]),
    .library(name: "AppStoreSimulator", targets: ["AppStoreSimulator"]),
    .library(name: "MillraceTime", targets: ["MillraceTime"]),
    .library(name: "MillraceWorker", targets: ["MillraceWorker"]),
    .library(name: "MillraceTesting", targets: ["MillraceTesting"]),
    // For the benchmarks, which list dead letters and plan replays.
    .library(name: "Operations", targets: ["Operations"]),
    .executable(name: "millrace", targets: ["MillraceCLI"]),
    .executable(name: "millrace-ingress", targets: ["millrace-ingress"]),
    .executable(name: "millrace-forward", targets: ["millrace-forward"]),
    .executable(name: "millrace-refunds", targets: ["millrace-refunds"]),
    .executable(name: "millrace-subscriptions", targets: ["millrace-subscriptions"]),
    .executable(name: "millrace-decoder", targets: ["millrace-decoder"]),
    .executable(name: "millrace-worker", targets: ["millrace-worker"]),
    .executable(name: "millrace-renewal-extensions", targets: ["millrace-renewal-extensions"]),
    .executable(name: "millrace-postgres", targets: ["millrace-postgres"]),
    .executable(name: "millrace-console", targets: ["millrace-console"]),
    .executable(name: "millrace-consumption", targets: ["millrace-consumption"]),
    .executable(name: "appstore-simulator", targets: ["appstore-simulator"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
  ],
  targets: [
    .systemLibrary(
      name: "CRDKafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"]), .brew(["librdkafka"])]),
    .systemLibrary(name: "CPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    library("KafkaClient", ["CRDKafka"]),
    // scripts/check types writes its types from the pages in Fields.
    library("AppStore", exclude: ["Fields"]),
    library("MillraceTime", ["AppStore"]),
    library(
      "AppStoreSignature", ["AppStore", "MillraceTime", crypto, swiftASN1, x509],
      resources: [.embedInCode("Resources/AppleRootCA-G3.der")]),
    library("AppStoreSigning", ["AppStore", crypto, swiftASN1, x509]),
    library(
      "AppStoreServerAPI",
      [
        "AppStore", "AppStoreSignature", "MillraceTime", asyncHTTPClient, jwtKit, logging, nioCore, nioHTTP1,
        nioPosix, nioSSL, tracing,
      ]),
    library(
      "AppStoreSimulator",
      [
        "AppStore", "AppStoreSigning", "MillraceTime", asyncHTTPClient, crypto, heap, httpTypes, hummingbird,
        hummingbirdCore, jwtKit, lifecycle, logging, nioCore, nioHTTP1, yams,
      ]),
    library(
      "MillraceCore",
      [
        "KafkaClient", "AppStore", "AppStoreServerAPI", "AppStoreSignature", "MillraceTime", argumentParser,
        asyncHTTPClient, coreMetrics, crypto, httpTypes, hummingbird, lifecycle, logging, metrics, nioCore, nioHTTP1,
        nioHTTPTypes, swiftASN1, unixSignals, yams,
      ]),
    library(
      "MillraceRecords",
      [
        "MillraceCore", "KafkaClient", "AppStore", "AppStoreServerAPI", "AppStoreSignature", "MillraceTime", crypto,
        logging, metrics, lifecycle, tracing,
      ]),
    library(
      "OpenTelemetry",
      [
        "MillraceCore", "MillraceRecords", "MillraceTime", "AppStore", asyncHTTPClient, lifecycle, logging, nioCore,
        nioHTTP1, nioSSL, tracing,
      ]),
    library(
      "MillraceWorker",
      [
        "MillraceCore", "MillraceRecords", "OpenTelemetry", "KafkaClient", "AppStore", "AppStoreServerAPI",
        "AppStoreSignature", "MillraceTime", argumentParser, coreMetrics, crypto, deque, heap, lifecycle, logging,
        metrics, nioCore, tracing, unixSignals,
      ]),
    library(
      "MillraceTesting",
      [
        "MillraceCore", "MillraceRecords", "MillraceWorker", "KafkaClient", "AppStore", "AppStoreServerAPI",
        "AppStoreSignature", "AppStoreSigning", "MillraceTime", coreMetrics, logging,
      ]),
    library(
      "Ingress",
      [
        "MillraceCore", "MillraceRecords", "OpenTelemetry", "MillraceTime", "KafkaClient", "AppStore",
        "AppStoreSignature",
        argumentParser, httpTypes, hummingbird, hummingbirdCore, hummingbirdTLS, lifecycle, logging, metrics,
        nioCertificateReloading, nioCore, nioHTTP1, nioHTTPTypes, nioSSL, tracing,
      ]),
    library(
      "Consumption",
      [
        "MillraceCore", "MillraceRecords", "MillraceWorker", "AppStore", "AppStoreServerAPI", "MillraceTime", crypto,
        logging,
      ]),
    library(
      "Forward", ["MillraceCore", "MillraceRecords", "MillraceWorker", "AppStore", "AppStoreServerAPI", "MillraceTime"]),
    library(
      "Refunds",
      [
        "MillraceCore", "MillraceRecords", "MillraceWorker", "KafkaClient", "AppStore", "AppStoreServerAPI",
        "AppStoreSignature", "MillraceTime",
      ]),
    library(
      "RenewalExtensions",
      [
        "MillraceCore", "MillraceRecords", "MillraceWorker", "KafkaClient", "AppStore", "AppStoreServerAPI",
        "MillraceTime", crypto, logging,
      ]),
    library(
      "Subscriptions",
      [
        "MillraceCore", "MillraceRecords", "MillraceWorker", "KafkaClient", "AppStore", "AppStoreServerAPI",
        "AppStoreSignature", "MillraceTime", logging,
      ]),
    library(
      "Decoder",
      [
        "MillraceCore", "MillraceRecords", "MillraceWorker", "AppStore", "AppStoreServerAPI", "AppStoreSignature",
      ]),
    library(
      "HTTPWorkers",
      [
        "MillraceCore", "MillraceRecords", "MillraceWorker", "KafkaClient", "AppStore", "AppStoreServerAPI",
        "AppStoreSignature", "MillraceTime", argumentParser, coreMetrics, logging, metrics,
      ]),
    library(
      "Postgres",
      [
        "CPQ", "MillraceCore", "MillraceRecords", "KafkaClient", "AppStore", "MillraceTime", argumentParser,
        coreMetrics,
        lifecycle, logging, metrics,
      ]),
    library(
      "Operations",
      [
        "MillraceCore", "MillraceRecords", "MillraceWorker", "Forward", "HTTPWorkers", "RenewalExtensions",
        "Subscriptions", "KafkaClient", "AppStore", "AppStoreServerAPI", "AppStoreSignature", "AppStoreSigning",
        "MillraceTime",
        coreMetrics, crypto, lifecycle, logging, metrics,
      ], resources: [.embedInCode("NewConsumer/Templates")]),
    library(
      "Console",
      [
        "Operations", "RenewalExtensions", "MillraceCore", "MillraceRecords", "MillraceWorker", "KafkaClient",
        "AppStore", "AppStoreServerAPI", "MillraceTime", argumentParser, crypto, httpTypes, hummingbird,
        hummingbirdCore, lifecycle, logging, metrics, nioCore,
      ],
      resources: [
        .embedInCode("Resources/console.css"), .embedInCode("Resources/console.js"),
        .embedInCode("Resources/console.svg"),
      ]),
    command(
      "MillraceCLI", folder: "millrace",
      [
        "Operations", "Console", "Consumption", "Decoder", "Forward", "HTTPWorkers", "Ingress", "Refunds",
        "RenewalExtensions", "Subscriptions", "MillraceCore", "MillraceRecords", "MillraceWorker", "KafkaClient",
        "AppStore",
        "AppStoreServerAPI", "MillraceTime", argumentParser, lifecycle, logging, unixSignals,
      ]),
    command("millrace-renewal-extensions", ["RenewalExtensions", "MillraceWorker"]),
    command(
      "appstore-simulator",
      [
        "AppStoreSimulator", "AppStoreSigning", "AppStore", "MillraceTime", argumentParser, lifecycle, logging,
        unixSignals,
      ]),
    command("millrace-ingress", ["Ingress", argumentParser]),
    command("millrace-console", ["Console", argumentParser]),
    command("millrace-consumption", ["Consumption", "MillraceWorker"]),
    command("millrace-postgres", ["Postgres", argumentParser]),
    command("millrace-forward", ["Forward", "MillraceWorker"]),
    command("millrace-refunds", ["Refunds", "MillraceWorker"]),
    command("millrace-worker", ["HTTPWorkers", argumentParser]),
    command("millrace-decoder", ["Decoder", "MillraceWorker"]),
    command("millrace-subscriptions", ["Subscriptions", "MillraceWorker"]),
    // Programs of scripts/demo and scripts/scenario: no products.
    .target(
      name: "ScenarioRig",
      dependencies: [
        "KafkaClient", "MillraceCore", "MillraceRecords", argumentParser, asyncHTTPClient, nioCore, nioHTTP1,
        unixSignals,
      ],
      path: "ProcessTests/Rig", swiftSettings: strict),
    .executableTarget(
      name: "millrace-scenarios",
      dependencies: [
        "ScenarioRig", "AppStoreSimulator", "AppStoreSigning", "AppStore", "MillraceTime", "KafkaClient",
        "MillraceCore", "MillraceRecords", "MillraceWorker", "MillraceTesting", "Operations", "Refunds",
        argumentParser, asyncHTTPClient, crypto, httpTypes, hummingbird, lifecycle, logging, nioCore, nioHTTP1,
      ],
      path: "ProcessTests/Program", swiftSettings: strict),
    .executableTarget(
      name: "millrace-instructions",
      dependencies: [
        "AppStore", "AppStoreSignature", "AppStoreSigning", "KafkaClient", "MillraceCore", "MillraceRecords",
        "MillraceTesting", "MillraceTime", "MillraceWorker", logging,
      ],
      path: "ProcessTests/Instructions", swiftSettings: strict),
    // The example in Swift, so that scripts/test does not build its dependencies a second time.
    .executableTarget(
      name: "Worker", dependencies: [crypto, hummingbird], path: "examples/swift-worker/Sources/Worker"),
    .testTarget(
      name: "WorkerTests", dependencies: ["Worker", hummingbirdTesting],
      path: "examples/swift-worker/Tests/WorkerTests"),
    testSupport("TestEnvironment", folder: "Environment", ["AppStore"]),
    testSupport(
      "TestServers", folder: "TestServers",
      [crypto, nioCore, nioHPACK, nioHTTP2, nioPosix, nioSSL, swiftASN1, x509]),
    testSupport(
      "TestSupport", folder: "Support",
      [
        "AppStore", "AppStoreServerAPI", "AppStoreSignature", "AppStoreSigning", "AppStoreSimulator", "KafkaClient",
        "MillraceCore", "MillraceRecords", "MillraceTesting", "MillraceTime", "MillraceWorker", "TestEnvironment",
        coreMetrics, crypto, logging,
      ]),
    tests("KafkaClient", ["KafkaClient", "CRDKafka", "AppStoreSigning", "TestEnvironment"]),
    tests("Scenarios", ["millrace-scenarios", "AppStore", "AppStoreSimulator"]),
    tests("AppStore", ["AppStore", "AppStoreSigning", "TestEnvironment"]),
    tests(
      "AppStoreSignature",
      ["AppStoreSignature", "AppStoreSigning", "AppStore", "MillraceTime", "TestEnvironment", crypto, swiftASN1, x509]),
    tests("AppStoreSigning", ["AppStoreSigning", "AppStore", crypto]),
    tests(
      "OpenTelemetry",
      ["OpenTelemetry", "AppStore", "MillraceCore", "MillraceRecords", "MillraceTime", logging, tracing]),
    tests(
      "Subscriptions",
      [
        "TestEnvironment", "Subscriptions", "TestSupport", "MillraceCore", "MillraceRecords", "MillraceWorker",
        "MillraceTesting",
        "KafkaClient", "AppStore", "AppStoreServerAPI", "AppStoreSignature", "AppStoreSigning", "AppStoreSimulator",
        "MillraceTime", coreMetrics, logging,
      ]),
    tests(
      "Decoder",
      [
        "TestEnvironment", "Decoder", "TestSupport", "MillraceCore", "MillraceRecords", "MillraceWorker",
        "MillraceTesting", "KafkaClient",
        "AppStore", "AppStoreServerAPI", "AppStoreSigning",
      ]),
    tests(
      "Postgres",
      [
        "Postgres", "TestEnvironment", "MillraceCore", "MillraceRecords", "KafkaClient", "AppStore", "AppStoreSigning",
        coreMetrics, lifecycle, logging,
      ], exclude: ["released-migrations.sql"]),
    tests("MillraceTime", ["MillraceTime", "AppStore", "TestEnvironment"]),
    tests(
      "AppStoreServerAPI",
      [
        "TestEnvironment", "AppStoreServerAPI", "AppStoreSimulator", "AppStore", "AppStoreSignature", "AppStoreSigning",
        "MillraceTime",
        "TestServers", asyncHTTPClient, crypto, hummingbird, jwtKit, lifecycle, logging, nioCore, nioHPACK, nioHTTP1,
        nioHTTP2, nioPosix, nioSSL,
      ]),
    tests(
      "AppStoreSimulator",
      [
        "TestEnvironment", "AppStoreSimulator", "AppStore", "AppStoreServerAPI", "AppStoreSignature", "AppStoreSigning",
        "MillraceTime",
        "appstore-simulator", asyncHTTPClient, crypto, httpTypes, hummingbird, jwtKit, lifecycle, logging, nioCore,
        nioHTTP1,
      ]),
    tests(
      "MillraceTesting",
      [
        "MillraceTesting", "MillraceCore", "MillraceRecords", "MillraceWorker", "KafkaClient", "AppStore",
        "AppStoreServerAPI", "AppStoreSignature", "AppStoreSigning", "MillraceTime", "TestEnvironment", logging,
      ]),
    tests(
      "MillraceCore",
      [
        "MillraceCore", "TestEnvironment", "MillraceRecords", "AppStore", "AppStoreSignature", "MillraceTime",
        "KafkaClient", asyncHTTPClient, coreMetrics, httpTypes, hummingbird, lifecycle, logging, nioCore, nioHTTP1,
      ]),
    tests(
      "MillraceRecords",
      [
        "MillraceRecords", "TestEnvironment", "MillraceCore", "AppStore", "AppStoreSignature", "AppStoreSigning",
        "MillraceTime", "KafkaClient",
      ], exclude: ["Topics/released-schemas.json"]),
    tests(
      "MillraceWorker",
      [
        "MillraceWorker", "TestEnvironment", "MillraceCore", "MillraceRecords", "MillraceTesting", "AppStore",
        "AppStoreServerAPI", "AppStoreSigning", "MillraceTime", "KafkaClient", coreMetrics, inMemoryTracing, lifecycle,
        logging, tracing,
      ]),
    tests(
      "Ingress",
      [
        "TestEnvironment", "TestServers", "Ingress", "Operations", "OpenTelemetry", "MillraceCore",
        "MillraceRecords", "MillraceWorker",
        "KafkaClient", "AppStore", "AppStoreSigning", "MillraceTime", "millrace-ingress", asyncHTTPClient, crypto,
        httpTypes, lifecycle, logging, nioCertificateReloading, nioCore, nioEmbedded, nioHTTP1, nioHTTPTypes, nioPosix,
        nioSSL, swiftASN1, tracing, x509,
      ]),
    tests(
      "Consumption",
      [
        "Consumption", "millrace-consumption", "TestSupport", "MillraceCore", "MillraceRecords", "MillraceWorker",
        "MillraceTesting", "KafkaClient", "AppStore", "AppStoreServerAPI", "AppStoreSignature", "AppStoreSigning",
        "AppStoreSimulator", "MillraceTime", coreMetrics, crypto, inMemoryTracing, logging, tracing,
      ]),
    tests(
      "Forward",
      [
        "TestEnvironment", "Forward", "millrace-forward", "MillraceCore", "MillraceRecords", "MillraceWorker",
        "MillraceTesting",
        "KafkaClient", "AppStore", "AppStoreServerAPI", "AppStoreSigning", "MillraceTime", lifecycle, logging,
        nioCore, nioPosix,
      ]),
    tests(
      "HTTPWorkers",
      [
        "TestEnvironment", "HTTPWorkers", "Operations", "TestServers", "TestSupport", "MillraceCore", "MillraceRecords",
        "MillraceWorker", "MillraceTesting",
        "KafkaClient", "AppStore", "AppStoreServerAPI", "AppStoreSignature", "AppStoreSigning", "AppStoreSimulator",
        "MillraceTime", coreMetrics, crypto, logging, nioCore, nioHPACK, nioPosix, nioSSL,
      ]),
    tests(
      "Refunds",
      [
        "Refunds", "TestSupport", "MillraceCore", "MillraceRecords", "MillraceWorker", "MillraceTesting",
        "KafkaClient", "AppStore", "AppStoreServerAPI", "AppStoreSignature", "AppStoreSigning", "AppStoreSimulator",
        "MillraceTime", coreMetrics, logging,
      ]),
    tests(
      "Operations",
      [
        "TestEnvironment", "Operations", "MillraceCore", "MillraceRecords", "MillraceWorker", "KafkaClient", "AppStore",
        "AppStoreServerAPI", "AppStoreSignature", "AppStoreSigning", "AppStoreSimulator", "MillraceTime",
        "MillraceCLI", "MillraceTesting", "TestSupport", "Forward", "HTTPWorkers", "Subscriptions", coreMetrics, crypto,
        lifecycle, logging, metrics,
      ]),
    tests(
      "Console",
      [
        "TestEnvironment", "TestServers", "Console", "millrace-console", "AppStoreSigning", "Operations",
        "RenewalExtensions", "MillraceCore",
        "MillraceRecords", "MillraceWorker", "MillraceTesting", "KafkaClient", "AppStore", "AppStoreServerAPI",
        "MillraceTime", asyncHTTPClient, crypto, httpTypes, hummingbird, lifecycle, logging, nioCore, nioHTTP1,
      ]),
    tests(
      "RenewalExtensions",
      [
        "RenewalExtensions", "TestSupport", "Operations", "MillraceCore", "MillraceRecords", "MillraceWorker",
        "MillraceTesting", "KafkaClient", "AppStore", "AppStoreServerAPI", "AppStoreSignature", "AppStoreSigning",
        "AppStoreSimulator", "MillraceTime", coreMetrics, logging,
      ]),
  ]
)

// The simulation (scripts/simulate) uses interfaces of the Swift runtime that may change, and the only build of the worker
// with planted faults. So its targets exist only if they are asked for. `coverage` also counts what runs in the worker.
if let simulation = Context.environment["MILLRACE_SIMULATION"] {
  let counting = simulation == "coverage" ? ["-profile-generate", "-profile-coverage-mapping"] : []
  /// The sources of a module, a second time.
  func planted(_ name: String, _ path: String, _ flags: [String] = []) -> Target {
    let dependencies = package.targets.first { $0.name == name }?.dependencies ?? []
    let others = dependencies.filter { if case .byNameItem("MillraceWorker", _) = $0 { false } else { true } }
    return .target(
      name: path.replacing("Simulation/", with: "Planted").replacing("Workers/", with: ""),
      dependencies: others + (others.count < dependencies.count ? ["PlantedWorker"] : []), path: path,
      swiftSettings: strict + [.define("PLANTED_FAULTS"), .unsafeFlags(flags + counting)])
  }
  let workers = ["Refunds", "RenewalExtensions", "Consumption", "Subscriptions", "HTTPWorkers", "Decoder"]
  package.targets += [
    .target(name: "CSimulation", path: "Simulation/Scheduler", linkerSettings: [.linkedLibrary("dl")]),
    planted("MillraceWorker", "Simulation/Worker"),
    .executableTarget(
      name: "millrace-simulate",
      dependencies: [
        "CSimulation", "PlantedWorker", "MillraceCore", "MillraceRecords", "AppStore", "AppStoreServerAPI",
        "AppStoreSignature", "AppStoreSigning", "Ingress", "KafkaClient", "MillraceTime", "Operations", argumentParser,
        lifecycle, logging,
      ] + workers.map { .init(stringLiteral: "Planted\($0)") },
      path: "Simulation/Program", exclude: ["Conformance/Suite/LogBackend.swift"], swiftSettings: strict,
      linkerSettings: [.unsafeFlags(Array(counting.prefix(1)))]),
  ]
  // What they import as MillraceWorker is the one with planted faults.
  package.targets += workers.map {
    planted($0, "Simulation/Workers/\($0)", ["-module-alias", "MillraceWorker=PlantedWorker"])
  }
}
