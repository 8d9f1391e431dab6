// The pages that wait to be written: at most one of each partition, which is the back-pressure.

internal import Synchronization

/// Passes pages from the readers of partitions to one writer. Closing it ends every wait.
final class PageQueue: Sendable {
  private struct State {
    var pages: [EncodedPage] = []
    var readers: [CheckedContinuation<Bool, Never>] = []
    var writer: CheckedContinuation<Void, Never>?
    var isClosed = false
  }

  private let state = Mutex(State())

  /// The number of pages that wait.
  var count: Int { state.withLock { $0.pages.count } }

  /// Adds a page, and returns once the writer has taken it; false if the queue was closed instead.
  func put(_ page: EncodedPage) async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (isTaken, writer) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
          guard !state.isClosed else { return (false, nil) }
          state.pages.append(page)
          state.readers.append(continuation)
          defer { state.writer = nil }
          return (true, state.writer)
        }
        if !isTaken { continuation.resume(returning: false) }
        writer?.resume()
      }
    } onCancel: {
      close()
    }
  }

  /// Waits for pages, and takes them in the order of their arrival: as many as fit into a number of records, and at
  /// least one. Returns none if the queue was closed.
  func take(upTo limit: Int) async -> [EncodedPage] {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          guard state.pages.isEmpty, !state.isClosed else { return true }
          state.writer = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      close()
    }
    let (pages, readers) = state.withLock { state -> ([EncodedPage], [CheckedContinuation<Bool, Never>]) in
      guard !state.isClosed else { return ([], []) }
      var (count, total) = (0, 0)
      for page in state.pages {
        guard count == 0 || total + page.count <= limit else { break }
        total += page.count
        count += 1
      }
      let pages = Array(state.pages.prefix(count))
      state.pages.removeFirst(count)
      let readers = Array(state.readers.prefix(count))
      state.readers.removeFirst(count)
      return (pages, readers)
    }
    for reader in readers { reader.resume(returning: true) }
    return pages
  }

  /// Ends every wait, now and later. Pages that were not taken are dropped.
  func close() {
    let (readers, writer) = state.withLock { state in
      state.isClosed = true
      state.pages = []
      defer { (state.readers, state.writer) = ([], nil) }
      return (state.readers, state.writer)
    }
    for reader in readers { reader.resume(returning: false) }
    writer?.resume()
  }
}
