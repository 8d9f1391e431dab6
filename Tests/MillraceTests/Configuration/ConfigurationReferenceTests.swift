import Testing

@testable import MillraceCore

@Suite struct ConfigurationReferenceTests {
  @Test func `The committed page equals the rendered list of keys`() throws {
    let page = try Files.readText("\(Project.root)/docs/configuration.md")
    #expect(page == MillraceConfiguration.reference(), "render it again: MillraceConfiguration.reference()")
  }

  @Test func `Every summary of a key ends with a full stop`() {
    let summaries =
      MillraceConfiguration.table.settings.map { ($0.name, $0.summary) }
      + AppSettings.table.settings.map { ($0.name, $0.summary) }
    for (name, summary) in summaries { #expect(summary.hasSuffix("."), "\(name)") }
  }
}
