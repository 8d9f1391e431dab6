// Apple Root CA - G3, bundled with the module so that verification needs neither files nor network.

/// The root certificate of the App Store's signed data.
public enum AppleRootCertificate {
  /// Apple Root CA - G3 in DER, valid until 2039-04-30; SHA-256
  /// `63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179`, published at
  /// https://www.apple.com/certificateauthority/.
  public static let g3: [UInt8] = PackageResources.AppleRootCA_G3_der
}
