// Runs the decoder worker as a process.

internal import Decoder
internal import MillraceWorker

@main
enum MillraceDecoder {
  static func main() async { await DecoderWorker.main() }
}
