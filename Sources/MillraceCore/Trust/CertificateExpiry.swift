/// When the end of a certificate is worth a warning.
package enum CertificateExpiry {
  /// How long before its end a certificate is reported.
  package static let notice = Duration.seconds(21 * 86_400)
}
