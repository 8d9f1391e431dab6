// Runs the workers whose handler is an HTTP endpoint as a process.

internal import ArgumentParser
internal import HTTPWorkers

@main
enum MillraceHTTPWorker {
  static func main() async { await HTTPWorkerCommand.main() }
}
