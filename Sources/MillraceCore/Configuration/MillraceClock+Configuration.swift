package import MillraceTime

extension MillraceClock {
  /// Creates the clock that `clock: {origin, rate, start}` describes.
  package init(_ settings: ClockSettings) {
    self.init(origin: settings.origin, rate: settings.rate, start: settings.start)
  }
}
