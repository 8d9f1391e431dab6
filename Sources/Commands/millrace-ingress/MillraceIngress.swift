// Runs the ingress as a process.

internal import ArgumentParser
internal import Ingress

@main
enum MillraceIngress {
  static func main() async { await IngressCommand.main() }
}
