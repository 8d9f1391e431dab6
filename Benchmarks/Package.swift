// swift-tools-version: 6.2
// A package of its own, so that nobody who uses Millrace resolves what only its measurements need.
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
  ],
  targets: [
    // What `bench produce` compares with: librdkafka's own examples/producer.c, with a window and a clock.
    .target(name: "CProduceLoop", linkerSettings: [.linkedLibrary("rdkafka")]),
    // What `bench consume` compares with.
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
        .product(name: "Kafka", package: "millrace"),
        .product(name: "Clocks", package: "millrace"),
        .product(name: "Millrace", package: "millrace"),
        .product(name: "MillraceTesting", package: "millrace"),
        .product(name: "Operations", package: "millrace"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "X509", package: "swift-certificates"),
        // Not linked: `bench ingress` and `scripts/bench-backfill` start them.
        .product(name: "appstore-simulator", package: "millrace"),
        .product(name: "millrace", package: "millrace"),
        .product(name: "millrace-ingress", package: "millrace"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6)]),
  ]
)
