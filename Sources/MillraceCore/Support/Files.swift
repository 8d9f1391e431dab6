// Reads small files: configuration, topics, secrets, certificates. It uses system calls directly, because errors then
// name the file and the reason ("No such file or directory") and Foundation is not needed.

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Reads small files and lists directories.
package enum Files {
  /// Returns the bytes of the file at `path`.
  ///
  /// - Parameters:
  ///   - path: Absolute, or relative to the working directory.
  ///   - limit: The largest accepted size, in bytes; 16 MiB by default.
  ///   - area: The area of the error if the file cannot be read.
  /// - Throws: ``MillraceError`` that names the file and the system's reason.
  package static func read(
    _ path: String, limit: Int = 16 << 20, area: MillraceError.Area = .configuration
  ) throws(MillraceError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw unreadable(path, area) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = chunk.withUnsafeMutableBytes { sysRead(descriptor, $0) }
      if count < 0 {
        if errno == EINTR { continue }
        throw unreadable(path, area)
      }
      if count == 0 { return bytes }
      guard bytes.count + count <= limit else {
        throw MillraceError(area, "the file is larger than \(limit) bytes", at: path, remedy: "check the path")
      }
      bytes.append(contentsOf: chunk.prefix(count))
    }
  }

  /// Returns the text of the file at `path`, which must be UTF-8.
  ///
  /// - Throws: ``MillraceError`` that names the file.
  package static func readText(
    _ path: String, area: MillraceError.Area = .configuration
  ) throws(MillraceError) -> String {
    guard let text = String(validating: try read(path, area: area), as: UTF8.self) else {
      throw MillraceError(area, "the file is not UTF-8 text", at: path, remedy: "save it as UTF-8")
    }
    return text
  }

  /// A mark that changes when the file at a path is replaced or written.
  package struct Stamp: Sendable, Hashable {
    private var inode: UInt64
    private var size: Int64
    private var seconds: Int64
    private var nanoseconds: Int64

    fileprivate init(_ status: stat) {
      inode = UInt64(status.st_ino)
      size = Int64(status.st_size)
      #if canImport(Darwin)
        (seconds, nanoseconds) = (Int64(status.st_mtimespec.tv_sec), Int64(status.st_mtimespec.tv_nsec))
      #else
        (seconds, nanoseconds) = (Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec))
      #endif
    }
  }

  /// Returns the stamp of the file at `path`; nil if there is none.
  package static func stamp(_ path: String) -> Stamp? {
    var status = stat()
    return stat(path, &status) == 0 ? Stamp(status) : nil
  }

  /// Returns the names in the directory at `path`, sorted by byte value, without `.` and `..`.
  ///
  /// - Throws: ``MillraceError`` that names the directory and the system's reason.
  package static func list(
    _ path: String, area: MillraceError.Area = .configuration
  ) throws(MillraceError) -> [String] {
    guard let directory = opendir(path) else { throw unreadable(path, area) }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
          String(cString: $0)
        }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  private static func sysRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    #if canImport(Glibc)
      Glibc.read(descriptor, buffer.baseAddress, buffer.count)
    #elseif canImport(Musl)
      Musl.read(descriptor, buffer.baseAddress, buffer.count)
    #else
      Darwin.read(descriptor, buffer.baseAddress, buffer.count)
    #endif
  }

  private static func unreadable(_ path: String, _ area: MillraceError.Area) -> MillraceError {
    let reason = strerror(errno).map { String(cString: $0) } ?? "unknown reason"
    return MillraceError(
      area, "cannot read it: \(reason)", at: path, remedy: "check the path and that this user may read it")
  }
}
