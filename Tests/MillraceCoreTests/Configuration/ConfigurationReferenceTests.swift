import Testing

@testable import MillraceCore

@Suite struct ConfigurationReferenceTests {
  @Test func `Every summary of a key ends with a full stop`() {
    let summaries =
      MillraceConfiguration.table.settings.map { ($0.name, $0.summary) }
      + AppSettings.table.settings.map { ($0.name, $0.summary) }
      + WorkerEntry.table.settings.map { ($0.name, $0.summary) }
    for (name, summary) in summaries { #expect(summary.hasSuffix("."), "\(name)") }
  }
}
