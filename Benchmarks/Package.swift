// swift-tools-version: 6.2
// A separate package, so that users of Millrace do not resolve the dependencies of the benchmarks.
import PackageDescription

let package = Package(
  name: "millrace-benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "millrace", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
  ],
  targets: [
    // The baseline of `bench produce`: librdkafka's own examples/producer.c, with a window and a clock.
    .target(name: "CProduceLoop", linkerSettings: [.linkedLibrary("rdkafka")]),
    // The baseline of `bench consume`.
    .target(name: "CConsumeLoop", linkerSettings: [.linkedLibrary("rdkafka")]),
    .executableTarget(
      name: "bench",
      dependencies: [
        "CConsumeLoop",
        "CProduceLoop",
        .product(name: "AppStore", package: "millrace"),
        .product(name: "AppStoreSignature", package: "millrace"),
        .product(name: "AppStoreSigning", package: "millrace"),
        .product(name: "AppStoreSimulator", package: "millrace"),
        .product(name: "KafkaClient", package: "millrace"),
        .product(name: "MillraceTime", package: "millrace"),
        .product(name: "MillraceWorker", package: "millrace"),
        .product(name: "MillraceTesting", package: "millrace"),
        .product(name: "Operations", package: "millrace"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "X509", package: "swift-certificates"),
        // Not linked. Benchmarks and scenarios start them as processes.
        .product(name: "appstore-simulator", package: "millrace"),
        .product(name: "millrace", package: "millrace"),
        .product(name: "millrace-ingress", package: "millrace"),
        .product(name: "millrace-postgres", package: "millrace"),
        .product(name: "millrace-renewal-extensions", package: "millrace"),
        .product(name: "millrace-subscriptions", package: "millrace"),
        .product(name: "millrace-worker", package: "millrace"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6)]),
  ]
)
