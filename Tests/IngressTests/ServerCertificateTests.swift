import AppStore
import AppStoreSigning
import Crypto
import Foundation
import KafkaClient
import Logging
import MillraceCore
import NIOCertificateReloading
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import SwiftASN1
import TestEnvironment
import Testing
import X509

@testable import Ingress

@Suite(.timeLimit(.minutes(15))) struct ServerCertificateTests {
  /// Writes a certificate and key for `name`, and returns the certificate in DER.
  private func write(_ name: String, to directory: URL) throws -> [UInt8] {
    let key = P256.Signing.PrivateKey()
    let subject = try DistinguishedName { CommonName(name) }
    let certificate = try Certificate(
      version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey), notValidBefore: Date() - 3600,
      notValidAfter: Date() + 3600, issuer: subject, subject: subject,
      signatureAlgorithm: .ecdsaWithSHA256,
      extensions: Certificate.Extensions {
        SubjectAlternativeNames([.dnsName(name)])
      }, issuerPrivateKey: .init(key))
    let pem = try certificate.serializeAsPEM()
    try pem.pemString.write(
      to: directory.appendingPathComponent("tls.pem"), atomically: true, encoding: .utf8)
    try key.pemRepresentation.write(
      to: directory.appendingPathComponent("tls.key"), atomically: true, encoding: .utf8)
    return pem.derBytes
  }

  /// Returns the certificate that the server presents.
  private func presented(port: Int, maximum: TLSVersion? = nil) async throws -> [UInt8] {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.certificateVerification = .noHostnameVerification
    configuration.maximumTLSVersion = maximum
    let context = try NIOSSLContext(configuration: configuration)
    let group = MultiThreadedEventLoopGroup.singleton
    let seen = group.next().makePromise(of: [UInt8].self)
    do {
      let channel = try await ClientBootstrap(group: group)
        .connectTimeout(.seconds(120))
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            let handler = try NIOSSLClientHandler(context: context, serverHostname: nil) { certificates, promise in
              do {
                seen.succeed(try certificates.first?.toDERBytes() ?? [])
              } catch {
                seen.fail(error)
              }
              promise.succeed(.certificateVerified)
            }
            try channel.pipeline.syncOperations.addHandler(handler)
          }
        }
        .connect(host: "127.0.0.1", port: port).get()
      // A failed handshake yields no certificate.
      channel.closeFuture.whenComplete { _ in seen.fail(ChannelError.eof) }
      let certificate = try await seen.futureResult.get()
      channel.close(promise: nil)
      return certificate
    } catch {
      seen.fail(error)
      throw error
    }
  }

  @Test func `a certificate that changes on disk is used without a restart, and TLS below 1.2 is refused`()
    async throws
  {
    var fixture = try IngressFixture()
    let first = try write("first.example", to: fixture.directory)
    fixture.configuration.ingress.tls.certificate = fixture.directory.appendingPathComponent("tls.pem").path
    fixture.configuration.ingress.tls.key = fixture.directory.appendingPathComponent("tls.key").path
    let directory = fixture.directory
    try await fixture.run(details: { $0.certificateRefresh = .milliseconds(20) }) { (ingress) async throws in
      #expect(try await presented(port: ingress.port) == first)
      await #expect(throws: (any Error).self) { try await presented(port: ingress.port, maximum: .tlsv11) }
      let second = try write("second.example", to: directory)
      // If the server does not reload the files, this loop ends at the suite's time limit. Between the two writes the
      // key does not match the certificate, so the server keeps the first pair.
      try await waitUntil(await presented(port: ingress.port) == second)
    }
  }

  @Test func `a certificate reports its expiry`() throws {
    let fixture = try IngressFixture()
    defer { fixture.removeFiles() }
    let before = Int(Date().timeIntervalSince1970) + 3_600
    _ = try write("end.example", to: fixture.directory)
    let certificate = try ServerCertificate(
      certificate: fixture.directory.appendingPathComponent("tls.pem").path,
      key: fixture.directory.appendingPathComponent("tls.key").path, logger: .init(label: "test"))
    let end = try #require(certificate.end)
    #expect((before...Int(Date().timeIntervalSince1970) + 3_601).contains(end))
  }

  @Test func `the start fails for a file without a certificate and the error names the key`() throws {
    var fixture = try IngressFixture()
    defer { fixture.removeFiles() }
    fixture.configuration.ingress.tls.certificate = fixture.directory.appendingPathComponent("root.der").path
    fixture.configuration.ingress.tls.key = fixture.directory.appendingPathComponent("secret").path
    let error = #expect(throws: MillraceError.self) {
      try ServerCertificate(
        certificate: fixture.directory.appendingPathComponent("root.der").path,
        key: fixture.directory.appendingPathComponent("secret").path, logger: .init(label: "test"))
    }
    #expect(error?.description.contains("ingress.tls") == true)
  }
}
