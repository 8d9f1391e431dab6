import Testing

@testable import Millrace

@Suite struct ConfigurationReferenceTests {
  @Test func `The committed page is what the list of keys renders`() throws {
    let page = try Files.readText("\(Project.root)/docs/configuration.md")
    #expect(page == MillraceConfiguration.reference(), "render it again: MillraceConfiguration.reference()")
  }

  @Test func `Every key has a sentence that ends`() {
    let summaries =
      MillraceConfiguration.table.settings.map { ($0.name, $0.summary) }
      + AppSettings.table.settings.map { ($0.name, $0.summary) }
    for (name, summary) in summaries { #expect(summary.hasSuffix("."), "\(name)") }
  }
}
