/// Masks parts of URLs that may hold credentials.
package enum URLMask {
  /// Returns the text with the user information, query and fragment of a URL masked. Other text stays unchanged.
  package static func text(_ text: String) -> String {
    guard let scheme = text.firstRange(of: "://") else { return text }
    let rest = text[scheme.upperBound...]
    let authority = rest.prefix { !"/?#".contains($0) }
    let tail = rest[authority.endIndex...]
    let path = tail.prefix { $0 != "?" && $0 != "#" }
    var shown = String(text[..<scheme.upperBound])
    if let at = authority.lastIndex(of: "@") {
      shown += "\(SecretFile.mask)\(authority[at...])"
    } else {
      shown += authority
    }
    shown += path
    if let mark = tail[path.endIndex...].first { shown += "\(mark)\(SecretFile.mask)" }
    return shown
  }
}
