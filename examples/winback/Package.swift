// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "winback",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "millrace", path: "../..")
  ],
  targets: [
    .executableTarget(name: "Winback", dependencies: [.product(name: "MillraceWorker", package: "millrace")]),
    .testTarget(
      name: "WinbackTests",
      dependencies: ["Winback", .product(name: "MillraceTesting", package: "millrace")]),
  ]
)
