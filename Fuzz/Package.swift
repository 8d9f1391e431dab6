// swift-tools-version: 6.2
// A separate package: only AppStore, AppStoreSignature and MillraceTime may be instrumented, and users of Millrace
// should neither resolve nor build it. The four modules are symbolic links to the main package's.
//
// Build it with `scripts/check fuzz`, which finds the toolchain's libFuzzer.
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// Coverage for libFuzzer, and AddressSanitizer because these parsers read raw memory.
let instrumented = strict + [.unsafeFlags(["-sanitize=fuzzer,address"])]

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let swiftASN1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")

let package = Package(
  name: "millrace-fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
  ],
  targets: [
    .target(name: "CFuzzer"),
    .target(name: "AppStore", swiftSettings: instrumented),
    .target(name: "MillraceTime", dependencies: ["AppStore"], swiftSettings: instrumented),
    .target(
      name: "AppStoreSignature", dependencies: ["AppStore", "MillraceTime", crypto, swiftASN1, x509],
      resources: [.embedInCode("Resources/AppleRootCA-G3.der")], swiftSettings: instrumented),
    .target(name: "AppStoreSigning", dependencies: ["AppStore", crypto, swiftASN1, x509], swiftSettings: strict),
    .executableTarget(
      name: "fuzz", dependencies: ["CFuzzer", "AppStore", "AppStoreSignature"], swiftSettings: instrumented,
      linkerSettings: [
        // libFuzzer is C++. The path of its archive depends on the toolchain, so it is passed on the command line.
        .linkedLibrary("stdc++", .when(platforms: [.linux])), .unsafeFlags(["-sanitize=address"]),
      ]),
    .executableTarget(
      name: "fuzz-seeds", dependencies: ["AppStore", "AppStoreSigning"], swiftSettings: strict,
      linkerSettings: [.unsafeFlags(["-sanitize=address"])]),
  ]
)
