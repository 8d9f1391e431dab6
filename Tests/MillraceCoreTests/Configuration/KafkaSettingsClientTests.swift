import KafkaClient
import TestEnvironment
import Testing

@testable import MillraceCore

@Suite struct KafkaSettingsClientTests {
  @Test func `The client gets the values of property files`() throws {
    let directory = try TemporaryDirectory()
    var settings = KafkaSettings()
    settings.properties = ["security.protocol": "SASL_SSL"]
    settings.propertyFiles = ["sasl.password": try directory.write("hunter2\n", to: "password")]
    let client = try settings.client(clientID: "test", bootstrapServers: "b:1")
    #expect(client.bootstrapServers == "b:1")
    #expect(client.properties["security.protocol"] == "SASL_SSL")
    #expect(client.properties["sasl.password"] == "hunter2")
  }

  @Test func `A client with tokens uses TLS unless the properties say otherwise`() throws {
    var settings = KafkaSettings()
    #expect(try settings.client(clientID: "test").tokens == nil)
    settings.oauth.method = .file
    settings.oauth.tokenFile = "/token"
    let client = try settings.client(clientID: "test")
    #expect(client.tokens != nil && client.properties["security.protocol"] == "sasl_ssl" && client.objection == nil)
    settings.properties["security.protocol"] = "sasl_plaintext"
    #expect(try settings.client(clientID: "test").properties["security.protocol"] == "sasl_plaintext")
  }

  @Test func `The error for a missing property file names it`() {
    var settings = KafkaSettings()
    settings.propertyFiles = ["sasl.password": "/nowhere/password"]
    let error = #expect(throws: MillraceError.self) { try settings.client(clientID: "test") }
    #expect(error?.problems.first?.place == "kafka.propertyFiles.sasl.password: /nowhere/password")
  }
}
