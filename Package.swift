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
func library(_ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []) -> Target {
  .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: "\(name)Tests", dependencies: dependencies, swiftSettings: strict)
}

let package = Package(
  name: "millrace",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "Kafka", targets: ["Kafka"])
  ],
  targets: [
    .systemLibrary(
      name: "CRDKafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"]), .brew(["librdkafka"])]),
    library("Kafka", ["CRDKafka"]),
    tests("Kafka", ["Kafka"]),
  ]
)
