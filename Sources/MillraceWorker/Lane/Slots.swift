// Storage with reusable slots. Unlike a dictionary, it needs no hashing and moves no values.

/// Values in numbered slots. After a slot is released, its number identifies another value.
struct Slots<Value: Sendable>: Sendable {
  private var values: [Value] = []
  private var free: [Int] = []

  /// The number of slots, used and free.
  var count: Int { values.count }

  /// Returns a slot for a value. Creates the value if no free slot is left.
  /// - Parameter reuse: Turns the value of a released slot into the new one, so that its allocations are reused.
  mutating func take(_ make: () -> Value, reuse: (inout Value) -> Void) -> Int {
    if let place = free.popLast() {
      reuse(&values[place])
      return place
    }
    values.append(make())
    return values.count - 1
  }

  /// Releases a slot. Its value remains until the slot is taken again; the caller empties it.
  mutating func release(_ place: Int) { free.append(place) }

  /// The value in a slot that is in use.
  subscript(place: Int) -> Value {
    _read { yield values[place] }
    _modify { yield &values[place] }
  }
}
