import TestEnvironment
import Testing

@testable import Postgres

@Suite struct MigrationTests {
  @Test func `a released migration does not change`() throws {
    let migrations = Migration.all.map { "-- \($0.version): \($0.name)\n\($0.sql)\n" }
    #expect(try migrations.joined() == Project.text("Tests/PostgresTests/released-migrations.sql"))
  }
}
