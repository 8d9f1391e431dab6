// The fuzzer: `fuzz <jws|payload|v1> <seed directory> [libFuzzer's arguments]`. `scripts/check fuzz` runs it.
internal import CFuzzer

// libFuzzer calls a C function, which captures nothing. The target is therefore a global that is set once before the
// start.
nonisolated(unsafe) var target: any FuzzTarget = UnsetTarget()

guard CommandLine.arguments.count >= 3 else { Failure.report("usage: fuzz jws|payload|v1 SEEDS [libFuzzer options]") }
let seeds = CommandLine.arguments[2]
switch CommandLine.arguments[1] {
case "jws": target = JWSTarget(seeds: seeds)
case "payload": target = PayloadTarget()
case "v1": target = V1Target()
default: Failure.report("unknown target \(CommandLine.arguments[1]): jws, payload or v1")
}

// libFuzzer receives only its own arguments: the program's name and the arguments after the first two.
var arguments = CommandLine.unsafeArgv
arguments[2] = arguments[0]
var count = CommandLine.argc - 2
var shifted: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = arguments + 2

let status = LLVMFuzzerRunDriver(&count, &shifted) { data, size in
  target.run(UnsafeRawBufferPointer(start: data, count: size))
  return 0
}
Failure.exit(status)
