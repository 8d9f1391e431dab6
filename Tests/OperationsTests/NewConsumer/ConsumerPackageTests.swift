import Foundation
import TestEnvironment
import Testing

@testable import Operations

@Suite struct ConsumerPackageTests {
  @Test func `examples/winback is what the command writes`() throws {
    let example = URL(filePath: Project.path("examples/winback"))
    let package = ConsumerPackage(try ConsumerName("winback"), dependency: .path("../.."))
    for file in package.files {
      let text = try String(contentsOf: example.appendingPathComponent(file.path), encoding: .utf8)
      #expect(text == file.text, "examples/winback/\(file.path) is out of date; run millrace new consumer again")
    }
  }

  @Test(arguments: ConsumerPackage.Language.allCases)
  func `the project in another language has every file of its template`(language: ConsumerPackage.Language) throws {
    let folder = URL(filePath: Project.path("Sources/Operations/NewConsumer/Templates"))
    let prefix = "\(language.rawValue)--"
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix(prefix) }
    let files = ConsumerPackage(try ConsumerName("win-back"), language: language).files
    #expect(files.count == names.count && names.count >= 8)
    for name in names {
      let rest = name.dropFirst(prefix.count)
      let path = rest.hasSuffix("ignore") ? ".\(rest)" : rest.replacing("--", with: "/")
      let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
      #expect(files.first { $0.path == path }?.text == text.replacing("@name@", with: "win-back"), "\(name)")
    }
  }

  @Test func `names become types, and invalid names are refused`() throws {
    #expect(try ConsumerName("win-back-2").type == "WinBack2")
    for text in ["", "Winback", "-a", "a-", "a--b", "2a", "a_b", String(repeating: "a", count: 41)] {
      #expect(throws: OperationError.self, "\(text)") { try ConsumerName(text) }
    }
  }

  @Test func `a package is written to a new directory and overwrites nothing`() throws {
    let fixture = try Fixture()
    let directory = fixture.directory.appendingPathComponent("deep/new").path
    let package = ConsumerPackage(
      try ConsumerName("winback"), dependency: .version(url: "https://example.com/millrace", "1.2.3"))
    try package.write(to: directory)
    for file in package.files {
      #expect(try String(contentsOfFile: "\(directory)/\(file.path)", encoding: .utf8) == file.text)
    }
    let manifest = try #require(package.files.first { $0.path == "Package.swift" })
    #expect(manifest.text.contains(".package(url: \"https://example.com/millrace\", from: \"1.2.3\")"))
    #expect(throws: OperationError.self) { try package.write(to: directory) }
    // A file is in the way.
    let file = fixture.directory.appendingPathComponent("file").path
    try "mine".write(toFile: file, atomically: true, encoding: .utf8)
    let error = #expect(throws: OperationError.self) { try package.write(to: file) }
    #expect(error?.place == file && error?.what.contains("not a directory") == true)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
  }
}
