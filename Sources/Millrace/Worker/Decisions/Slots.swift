// Values that come and go, at places that are used again: what a dictionary does without hashing and without moving.

/// Values at numbered places. A place is somebody else's after it was freed.
struct Slots<Value: Sendable>: Sendable {
  private var values: [Value] = []
  private var free: [Int] = []

  /// Places there are, taken and free.
  var count: Int { values.count }

  /// A place for a value that is made where no place is left over from an earlier one.
  /// - Parameter reuse: Turns a value that was let go into the new one; what it had allocated serves again.
  mutating func take(_ make: () -> Value, reuse: (inout Value) -> Void) -> Int {
    if let place = free.popLast() {
      reuse(&values[place])
      return place
    }
    values.append(make())
    return values.count - 1
  }

  /// Lets a place go. Its value stays until the place is taken again: the caller empties it.
  mutating func release(_ place: Int) { free.append(place) }

  /// The value at a place that was taken.
  subscript(place: Int) -> Value {
    _read { yield values[place] }
    _modify { yield &values[place] }
  }
}
