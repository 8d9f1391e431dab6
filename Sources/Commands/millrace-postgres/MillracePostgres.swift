// Runs the process that writes to PostgreSQL, and its commands.

internal import ArgumentParser
internal import Postgres

@main
enum MillracePostgres {
  static func main() async { await PostgresCommand.main() }
}
