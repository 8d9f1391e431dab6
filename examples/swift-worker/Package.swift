// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "swift-worker",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
  ],
  targets: [
    .executableTarget(
      name: "Worker",
      dependencies: [
        .product(name: "Crypto", package: "swift-crypto"), .product(name: "Hummingbird", package: "hummingbird"),
      ]),
    .testTarget(
      name: "WorkerTests",
      dependencies: ["Worker", .product(name: "HummingbirdTesting", package: "hummingbird")]),
  ]
)
