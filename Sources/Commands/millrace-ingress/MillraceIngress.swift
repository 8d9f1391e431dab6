// The process that Apple posts to.

internal import ArgumentParser
internal import Ingress

@main
enum MillraceIngress {
  static func main() async { await IngressCommand.main() }
}
