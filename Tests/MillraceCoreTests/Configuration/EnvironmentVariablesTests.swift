import Testing

@testable import MillraceCore

@Suite struct EnvironmentVariablesTests {
  @Test(arguments: [
    ("kafka.bootstrapServers", "MILLRACE_KAFKA_BOOTSTRAP_SERVERS"),
    ("appStore.productionURL", "MILLRACE_APP_STORE_PRODUCTION_URL"),
    ("ingress.maxBodyBytes.v1", "MILLRACE_INGRESS_MAX_BODY_BYTES_V1"),
    ("ingress.tls.key", "MILLRACE_INGRESS_TLS_KEY"),
  ])
  func `The variable of a key is its path in capitals`(key: String, variable: String) {
    #expect(EnvironmentVariables.name(of: key.split(separator: ".").map(String.init)) == variable)
  }

  @Test func `No two keys share a variable`() {
    let names = MillraceConfiguration.table.settings.map { EnvironmentVariables.name(of: $0.path) }
    #expect(Set(names).count == names.count)
  }

  @Test func `A worker's keys have variables of their own, also where their names are alike`() throws {
    let names = WorkerEntry.table.settings.map { EnvironmentVariables.name(of: ["workers", "w"] + $0.variable) }
    #expect(Set(names).count == names.count)
    let start = "MILLRACE_WORKERS_MY_WORKER_"
    for (rest, key) in [
      ("HANDLER_TIMEOUT", "handlerTimeout"), ("HANDLER_REQUEST_TIMEOUT", "handler.timeout"),
      ("HANDLER_URL", "handler.url"), ("FAMILIES", "families"),
    ] {
      let found = try #require(EnvironmentVariables.worker(of: start + rest))
      #expect(found.name == "my-worker" && found.setting?.name == key)
    }
  }

  @Test(arguments: [
    ("MILLRACE_INGRESS_PORT", "tcp://10.0.0.1:8080"), ("MILLRACE_INGRESS_SERVICE_HOST", "10.0.0.1"),
    ("MILLRACE_INGRESS_SERVICE_PORT", "8080"), ("MILLRACE_INGRESS_SERVICE_PORT_HTTP", "8080"),
    ("MILLRACE_INGRESS_PORT_8080_TCP", "tcp://10.0.0.1:8080"), ("MILLRACE_INGRESS_PORT_8080_TCP_ADDR", "10.0.0.1"),
    ("MILLRACE_INGRESS_PORT_8080_TCP_PORT", "8080"), ("MILLRACE_INGRESS_PORT_8080_TCP_PROTO", "tcp"),
  ])
  func `A variable that Kubernetes sets for a Service is not a key`(name: String, value: String) {
    #expect(EnvironmentVariables.isServiceLink(name, value))
  }

  @Test(arguments: [
    ("MILLRACE_INGRESS_PORT", "8080"), ("MILLRACE_KAFKA_BOOTSTRAP_SERVERS", "kafka://a:9092"),
    ("MILLRACE_INGRESS_HOST", "0.0.0.0"), ("MILLRACE_LOGGING_LEVEL", "debug"),
  ])
  func `A variable that an operator sets is a key`(name: String, value: String) {
    #expect(!EnvironmentVariables.isServiceLink(name, value))
  }
}
