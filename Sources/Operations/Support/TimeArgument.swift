// The grammar of times on the command line. Every command uses it.

package import AppStore
internal import MillraceTime

/// A time as an operator writes it: an age such as `90m`, a day such as `2026-01-31`, or a time with its zone.
package struct TimeArgument: Sendable, Hashable, CustomStringConvertible {
  private enum Form: Sendable, Hashable {
    case age(Duration)
    case time(Timestamp)
  }

  private let form: Form
  /// The text as it was written.
  package let description: String

  /// The forms, for help texts and errors.
  package static let forms =
    "an age such as 90m or 7d, a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z"

  /// Parses a text; nil if it has none of the forms. A day begins at midnight in UTC.
  package init?(_ text: String) {
    if let age = DurationText.parse(text) {
      form = .age(age)
    } else if let time = Timestamp(rfc3339: text) ?? Timestamp(rfc3339: text + "T00:00:00Z") {
      form = .time(time)
    } else {
      return nil
    }
    description = text
  }

  /// An age.
  package init(age: Duration) { (form, description) = (.age(age), DurationText.text(age)) }

  /// The time. An age counts back from `now`.
  package func time(at now: Timestamp) -> Timestamp {
    switch form {
    case .age(let age): now - age
    case .time(let time): time
    }
  }

  /// How long to wait: an age is the duration itself, a time is its end.
  package func wait(from now: Timestamp) -> Duration {
    switch form {
    case .age(let age): age
    case .time(let time): time - now
    }
  }
}

/// A start as an operator writes it: a time, `earliest` or `latest`.
package enum StartArgument: Sendable, Hashable, CustomStringConvertible {
  /// The oldest that there is.
  case earliest
  /// Now.
  case latest
  /// A time.
  case time(TimeArgument)

  /// The forms, for help texts and errors.
  package static let forms = TimeArgument.forms + ", earliest or latest"

  /// Parses a text; nil if it has none of the forms.
  package init?(_ text: String) {
    switch text {
    case "earliest": self = .earliest
    case "latest": self = .latest
    default:
      guard let time = TimeArgument(text) else { return nil }
      self = .time(time)
    }
  }

  /// The text as it was written.
  package var description: String {
    switch self {
    case .earliest: "earliest"
    case .latest: "latest"
    case .time(let time): "\(time)"
    }
  }

  /// The time; nil for the oldest that there is.
  package func time(at now: Timestamp) -> Timestamp? {
    switch self {
    case .earliest: nil
    case .latest: now
    case .time(let time): time.time(at: now)
    }
  }
}
