import AppStore
import AppStoreSigning
import KafkaClient
import MillraceWorker
import Foundation
import Operations
import Testing

@testable import Console

@Suite struct HTMLTests {
  @Test func `interpolated text is escaped, markup is not`() {
    let name = "<b onclick=\"x\">&'"
    let part: HTML = "<i>\(name)</i>"
    let whole: HTML = "<p title=\"\(name)\">\(part)\([part, part])\(7)\(nil as HTML?)</p>"
    let escaped = "&lt;b onclick=&quot;x&quot;&gt;&amp;&#39;"
    #expect(part.text == "<i>\(escaped)</i>")
    #expect(whole.text == "<p title=\"\(escaped)\"><i>\(escaped)</i><i>\(escaped)</i><i>\(escaped)</i>7</p>")
  }

  @Test func `bidirectional controls and characters that HTML does not allow are replaced`() {
    let html: HTML = "\("a\u{202E}b\u{0}c\u{2066}d\u{85}e\u{7F}\tf\n")"
    #expect(html.text == "a\u{FFFD}b\u{FFFD}c\u{FFFD}d\u{FFFD}e\u{FFFD}\tf\n")
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `no text can open a tag or leave its attribute`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<50 {
      let text = Hostile.text(&random)
      let html: HTML = "<a href=\"\(text)\" title=\"\(text)\">\(text)</a>"
      #expect(Markup.tags(html.text).map(\.name) == ["a", "/a"], "\(html.text)")
      #expect(Markup.tags(html.text).first?.attributes == ["href", "title"], "\(html.text)")
    }
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `no record can add markup to a page`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for page in try HostilePages(&random).all {
      let tags = Markup.tags(page.text)
      #expect(Set(tags.map(\.name)).isSubset(of: Markup.known), "\(Set(tags.map(\.name)).subtracting(Markup.known))")
      #expect(tags.filter { $0.name == "script" }.count == 1)
      let attributes = Set(tags.flatMap(\.attributes))
      #expect(attributes.isSubset(of: Markup.knownAttributes), "\(attributes.subtracting(Markup.knownAttributes))")
      #expect(!page.text.contains("style="))
    }
  }
}

/// Typical injection attempts.
enum Hostile {
  private static let pieces = [
    "<script>alert(1)</script>", "\"", "'", ">", "<", "&", "&lt;", "javascript:alert(1)",
    "<img src=x onerror=alert(1)>",
    "]]>", "<!--", "-->", "</textarea>", "\u{202E}", "\u{0}", "`", "=", " onload=x ", "</td>", "\\", "%3Cscript%3E",
    "{{", "é", "🜁",
    "\r\n", "data: x\n\n", "event: section",
  ]

  static func text(_ random: inout SeededGenerator) -> String {
    (0..<Int.random(in: 1...6, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
  }
}

/// The part of a tokenizer that finds tags and their attribute names (HTML Living Standard 13.2.5).
enum Markup {
  struct Tag: Hashable {
    var name: String
    var attributes: [String]
  }

  static let known: Set<String> = {
    let names = [
      "html", "head", "title", "body", "a", "header", "div", "form", "label", "input", "button", "p", "span", "nav",
      "ul",
      "li", "main", "footer", "section", "h1", "h2", "h3", "strong", "table", "caption", "thead", "tbody", "tr", "th",
      "td", "time", "details", "summary", "svg", "desc", "path", "circle", "code", "dl", "dt", "dd", "ol", "pre",
      "select",
      "option", "progress", "script", "link", "meta", "wbr",
    ]
    return Set(names + names.map { "/\($0)" } + ["!doctype", "!--"])
  }()

  static let knownAttributes: Set<String> = [
    "lang", "charset", "name", "content", "rel", "type", "href", "src", "defer", "class", "id", "aria-label",
    "aria-hidden",
    "aria-labelledby", "aria-describedby", "viewBox", "width", "height", "cx", "cy", "r", "fill", "stroke",
    "stroke-width",
    "preserveAspectRatio", "d", "action", "method", "role", "for", "placeholder", "autocomplete", "inputmode",
    "tabindex", "data-live",
    "scope",
    "datetime", "title", "value", "selected", "max", "required", "maxlength", "disabled", "html",
  ]

  static func tags(_ text: String) -> [Tag] {
    var tags: [Tag] = []
    var rest = text[...]
    while let open = rest.firstIndex(of: "<") {
      rest = rest[rest.index(after: open)...]
      if rest.hasPrefix("!--") {
        tags.append(Tag(name: "!--", attributes: []))
        rest = rest.range(of: "-->").map { rest[$0.upperBound...] } ?? ""
        continue
      }
      var name = ""
      while let next = rest.first, !next.isWhitespace, next != ">" {
        name.append(next)
        rest.removeFirst()
      }
      var tag = Tag(name: name.lowercased().trimmingSuffix("/"), attributes: [])
      while let next = rest.first, next != ">" {
        if next.isWhitespace || next == "/" {
          rest.removeFirst()
          continue
        }
        var attribute = ""
        while let next = rest.first, !next.isWhitespace, next != "=", next != ">" {
          attribute.append(next)
          rest.removeFirst()
        }
        tag.attributes.append(attribute)
        guard rest.first == "=" else { continue }
        rest.removeFirst()
        if rest.first == "\"" {
          rest.removeFirst()
          rest = rest.firstIndex(of: "\"").map { rest[rest.index(after: $0)...] } ?? ""
        } else {
          while let next = rest.first, !next.isWhitespace, next != ">" { rest.removeFirst() }
        }
      }
      if !rest.isEmpty { rest.removeFirst() }
      tags.append(tag)
    }
    return tags
  }
}

extension String {
  fileprivate func trimmingSuffix(_ suffix: String) -> String {
    count > 1 && hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
  }
}
