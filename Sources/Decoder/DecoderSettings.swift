// The settings of the worker `decoder`.

internal import AppStore
package import MillraceCore

/// The settings of the worker `decoder`.
package struct DecoderSettings: WorkerSettings, Hashable {
  /// A schema registry with Confluent's REST API. Nil: the records are plain JSON.
  package var registryURL: String?
  /// The user for HTTP basic authentication.
  package var registryUser: String?
  /// The file with the user's password.
  package var registryPasswordFile: String?

  /// The defaults.
  package init() {}

  /// The keys.
  package static let table = SettingTable<DecoderSettings>([
    Setting(
      "schemaRegistry.url", \.registryURL, .url,
      "A schema registry with Confluent's REST API. If set, the worker registers its schemas when it starts, and the "
        + "records have Confluent's wire format. Unset: the records are plain JSON."),
    Setting(
      "schemaRegistry.user", \.registryUser, .nonEmptyText,
      "The user, or API key, for HTTP basic authentication."),
    Setting(
      "schemaRegistry.passwordFile", \.registryPasswordFile, .path,
      "The file with the user's password, or the secret of the API key."),
  ])

  /// The rules between the keys.
  package func problems(in configuration: MillraceConfiguration) -> [MillraceError.Problem] {
    var problems: [MillraceError.Problem] = []
    if (registryUser == nil) != (registryPasswordFile == nil) {
      let (set, missing) = registryUser == nil ? ("passwordFile", "user") : ("user", "passwordFile")
      problems.append(
        .init(
          "schemaRegistry.\(set) is set without \(missing)", at: "schemaRegistry.\(missing)", remedy: "set both or none"
        ))
    }
    if registryURL == nil, registryUser != nil {
      problems.append(
        .init("schemaRegistry has a user but no url", at: "schemaRegistry.url", remedy: "set the registry's URL"))
    }
    if let registryURL, MillraceConfiguration.authority(of: registryURL).contains("@") {
      problems.append(
        .init(
          "the URL contains a password", at: "schemaRegistry.url",
          remedy: "move it to schemaRegistry.user and schemaRegistry.passwordFile"))
    }
    return problems
  }
}
