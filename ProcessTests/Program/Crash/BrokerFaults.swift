// Broker faults under load: posts to a real ingress with workers, while nodes of the cluster are killed, paused and
// restarted. Every post that is answered 200 must be in Kafka and be handled once. No process may exit, except one of two
// with the same name.

import Foundation
import MillraceRecords
import ScenarioRig

/// A fault of the cluster.
enum BrokerFault: String, Sendable {
  case none = "no fault"
  case pauseLeader = "leader paused for 15 s"
  case pauseOther = "other node paused for 15 s"
  case killLeader = "leader killed"
  case killOther = "other node killed"
  case killTwo = "two of three nodes killed"
  case restartInTurn = "each node killed in turn"
  case pauseCoordinator = "group coordinator paused"
  case outage = "all nodes killed for 29 s"

  /// A plan with each kind of kill once, and the given number of pauses, alternating between the leader and another
  /// node. The pause of the coordinator comes last, because it is longer than all sessions.
  static func plan(pauses: Int) -> [BrokerFault] {
    let pauses = (0..<max(1, pauses)).map { $0.isMultiple(of: 2) ? BrokerFault.pauseLeader : .pauseOther }
    return [.none, .killOther, .killLeader] + pauses + [.killTwo, .restartInTurn, .pauseCoordinator]
  }

  /// An outage of the whole cluster.
  static let outages = [BrokerFault.none, .outage]
}

extension CrashTest {
  /// The duration of a pause. The controller fences a node after 9 s.
  private static let pause = Duration.seconds(15)
  /// The duration of an outage, longer than the session of a static member (18 s).
  private static let outage = Duration.seconds(29)

  /// The processes of the worker.
  private struct Processes {
    /// A dynamic member. If it ends, the test starts it again and reports it.
    var dynamic: WorkerGroup
    /// Two static members, each with a name of its own.
    var named: [WorkerGroup]
    /// A process with the name of the last of ``named``, which starts before all nodes are killed.
    var twin: WorkerGroup
    var isTwinStarted = false

    /// The processes that must not end.
    var steady: [WorkerGroup] { [dynamic] + (isTwinStarted ? named.dropLast() : named) }
    /// The two processes with one name. One of them ends.
    var pair: [WorkerGroup] { named.suffix(1) + [twin] }
  }

  func brokerFaults(_ plan: [BrokerFault]) async throws -> String {
    guard let nodes else { throw RunError("no nodes to kill; see --nodes") }
    let processes = Processes(
      dynamic: workers, named: (0..<2).map { place($0, isNamed: true, hasAdminPort: true) },
      twin: place(1, isNamed: true, log: "twin", hasAdminPort: true))
    return try await ScenarioRig.run {
      try await self.brokerFaults(plan, nodes, processes)
    } thenAlways: {
      for group in processes.named + [processes.twin] { await group.killAll() }
    }
  }

  private func brokerFaults(
    _ plan: [BrokerFault], _ nodes: KafkaNodes, _ given: Processes
  ) async throws -> String {
    var processes = given
    endpoint.setUnreliable(false)
    let ports = try FreePorts.find(2)
    let ingress = try await deployment.startIngress(port: ports[0], admin: ports[1])
    defer { ingress.send(.kill) }
    for group in processes.steady { try await group.start(1) }
    let load = PostLoad(url: "http://127.0.0.1:\(ports[0])/v2")
    let posting = Task { try await load.run { try await self.next() } }
    do {
      for (number, fault) in plan.enumerated() {
        if number > 0 { load.beginNextFault() }
        if fault == .outage { try await startTwin(&processes) }
        try await cause(fault, nodes)
        try await nodes.waitUntilSettled()
        if fault == .outage { try await settleName(&processes) }
        for group in processes.steady { try await group.waitUntilReady(lanes: 1) }
        // Post to the healthy cluster again, so the time of the last bad answer is meaningful.
        try await Task.sleep(for: .seconds(3))
        try await keep()
        if let end = ingress.end { throw RunError("the ingress ended with \(end); see \(ingress.log)") }
        say("\(number + 1) of \(plan.count): \(fault.rawValue)")
      }
    } catch {
      load.stop()
      throw error
    }
    load.stop()
    try await posting.value
    let end = await ingress.end(by: .terminate)
    if end != .exit(0) { fault("the ingress left with \(end) after SIGTERM") }
    try await compare(plan, load)
    for group in processes.named { for left in try await group.leave() { fault("\(left)") } }
    return "\(plan.count - 1) faults of brokers under \(load.tallies.reduce(0) { $0 + $1.posts }) posts"
  }

  private func cause(_ fault: BrokerFault, _ nodes: KafkaNodes) async throws {
    let order = try await nodes.byLeadership(prefix: deployment.prefix)
    guard let leader = order.first, let other = order.last, order.count == 3 else {
      throw RunError("three nodes are needed, but \(order.count) answered")
    }
    switch fault {
    case .none: try await Task.sleep(for: .seconds(5))
    case .pauseLeader: try await pause(leader, nodes, for: Self.pause)
    case .pauseOther: try await pause(other, nodes, for: Self.pause)
    case .killLeader: try await kill([leader], nodes)
    case .killOther: try await kill([other], nodes)
    case .killTwo: try await kill([leader, other], nodes)
    case .restartInTurn: for node in order { try await kill([node], nodes) }
    case .pauseCoordinator: try await pause(nodes.coordinator(of: topics.group), nodes, for: Self.outage)
    case .outage:
      for node in order { try await nodes.kill(node) }
      try await Task.sleep(for: Self.outage)
      try await nodes.start(order)
    }
  }

  private func pause(_ node: Int, _ nodes: KafkaNodes, for duration: Duration) async throws {
    try await nodes.pause(node)
    try await Task.sleep(for: duration)
    try await nodes.resume(node)
  }

  private func kill(_ victims: [Int], _ nodes: KafkaNodes) async throws {
    for node in victims { try await nodes.kill(node) }
    // Partition leaders move in this time.
    try await Task.sleep(for: .seconds(5))
    for node in victims { try await nodes.start(node) }
    try await nodes.waitUntilSettled()
  }

  // MARK: - The workers

  /// Starts a process with the name of a running one, and waits until one of the two asks who has the name.
  private func startTwin(_ processes: inout Processes) async throws {
    processes.isTwinStarted = true
    try await processes.twin.start(1)
    var pair: [Child] = []
    for group in processes.pair { pair += await group.processes }
    try await wait(for: "one of two processes with one name to be fenced") {
      try pair.contains { try $0.end != nil || $0.hasLogged("another process under this one's name") }
    }
  }

  /// Waits until one of the two processes with one name has ended because of the other one, which then is steady.
  private func settleName(_ processes: inout Processes) async throws {
    var pair: [(group: WorkerGroup, process: Child)] = []
    for group in processes.pair { for process in await group.processes { pair.append((group, process)) } }
    try await wait(for: "one of two processes with one name to end") { pair.contains { $0.process.end != nil } }
    for (group, process) in pair {
      guard let end = process.end else { continue }
      if end != .exit(76) { fault("one of two processes with one name left with \(end): \(process.log)") }
      await group.killAll()
    }
    let left = pair.filter { $0.process.end == nil }.map(\.group)
    if left.count != 1 { fault("of two processes with one name \(left.count) are left") }
    processes.named = processes.named.dropLast() + left
    processes.isTwinStarted = false
  }

  // MARK: - The answers

  /// Compares the topics with the answers and prints one line per fault.
  private func compare(_ plan: [BrokerFault], _ load: PostLoad) async throws {
    var copies: [String: Int] = [:]
    for record in try await deployment.log.everything(in: topics.inputs) {
      if let id = record.text("ce_id") { copies[id, default: 0] += 1 }
    }
    let (accepted, effects, tallies) = (load.accepted, load.effects, load.tallies)
    expect(copies.reduce(into: [:]) { $0[$1.key] = effects[$1.key] ?? false })
    say("fault                          posts    200    503  other   late   slowest   last not 200")
    for (fault, tally) in zip(plan, tallies) {
      let numbers = [tally.posts, tally.answers[200] ?? 0, tally.answers[503] ?? 0, tally.others, tally.late]
      say(
        fault.rawValue.padding(toLength: 29, withPad: " ", startingAt: 0)
          + numbers.map { right("\($0)", 7) }.joined() + right("\(tally.slowest.tenths) s", 10)
          + right(tally.lastBad.map { "\($0.tenths) s" } ?? "none", 15))
    }
    let missing = accepted.subtracting(copies.keys)
    let late = tallies.reduce(0) { $0 + $1.late }
    say(
      """
      \(accepted.count) answered 200: \(missing.count) missing; \(late) answers late; \
      \(copies.values.reduce(0) { $0 + $1 - 1 }) duplicates in Kafka; \
      \(Set(copies.keys).subtracting(accepted).count) in Kafka without a 200
      """)
    for id in missing.sorted().prefix(10) { fault("\(id) was answered 200 but is not in Kafka") }
    if late > 0 { fault("\(late) answers came after the deadline") }
  }

  private func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}

extension Duration {
  /// The seconds with one decimal.
  var tenths: String { String(format: "%.1f", self / .seconds(1)) }
}
