// The pages of one webhook: its newest deliveries, and one delivery with a form to send the event again.

internal import AppStore
internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords

struct WebhookView: Sendable {
  let worker: String
  let deliveries: [WebhookDelivery]
  let now: Timestamp
  let context: PageContext

  var page: HTML {
    let rows = deliveries.map { delivery -> HTML in
      """
      <tr><td>\(Words.relative(delivery.publishedAt, now: now))</td>
      <th scope="row"><a href="\(delivery.link(to: worker))"><span class="code">\(Words.breakable(delivery.name))</span></a></th>
      <td><span class="state \(delivery.state.tone.name)">\(delivery.state.words)</span></td>
      <td class="extra code">\(delivery.key)</td></tr>
      """
    }
    return Layout.page(
      "Webhook \(WebhookRow.name(of: worker))", context,
      """
      <p class="crumbs"><a href="/#webhooks">Webhooks</a></p>
      <h1>Deliveries to \(WebhookRow.name(of: worker))</h1>
      <p class="count" role="status">The newest \(Words.count(deliveries.count)) events, at most \(Words.count(DeliveryReader.limit)) · <a href="\(Link.to(["dead-letters"], [("worker", worker)]))">dead letters</a></p>
      \(rows.isEmpty ? Layout.nothing("There are no events.") : Layout.table("Deliveries, the newest first", [.init("Published"), .init("Event"), .init("State"), .init("Key", isExtra: true)], rows))
      """)
  }
}

extension WebhookRow {
  /// The name of a webhook's worker without `webhook-`.
  static func name(of worker: String) -> String { String(worker.dropFirst(WorkerEntry.webhookPrefix.count)) }
}

extension WebhookDelivery {
  func link(to worker: String) -> String {
    Link.to(["webhooks", WebhookRow.name(of: worker), position.topic, "\(position.partition)", "\(position.offset)"])
  }
}

struct DeliveryView: Sendable {
  let worker: String
  let delivery: WebhookDelivery
  let failures: FailedPosts
  /// The event's data; nil unless the console shows payloads.
  let payload: String?
  let token: String
  let now: Timestamp
  let context: PageContext

  var page: HTML {
    let name = WebhookRow.name(of: worker)
    let failed: HTML =
      failures.causes.isEmpty
      ? Layout.nothing("There were none, or they are too old.")
      : "<ol class=\"causes\">\(failures.causes.map { "<li>\($0)</li>" as HTML })</ol>"
    return Layout.page(
      "Delivery to \(name)", context,
      """
      <p class="crumbs"><a href="/#webhooks">Webhooks</a> › <a href="\(Link.to(["webhooks", name]))">\(name)</a></p>
      <h1><span class="code">\(delivery.name)</span> <span class="state \(delivery.state.tone.name)">\(delivery.state.words)</span></h1>
      \(action)
      <h2>Details</h2><dl class="facts">\(facts)</dl>
      <h2>Failed posts</h2>\(failed)
      <h2>Payload</h2>\(content)
      """)
  }

  private var action: HTML {
    switch delivery.state {
    case .dead:
      return """
        <p class="nothing">Requeue it among the <a href="\(Link.to(["dead-letters"], [("worker", worker), ("q", delivery.id)]))">dead letters</a>.</p>
        """
    case .waiting: return "<p class=\"nothing\">The webhook will post it again.</p>"
    case .unread: return "<p class=\"nothing\">The webhook has not read it.</p>"
    case .delivered, .done, .forgotten: break
    }
    guard context.visitor.mayAct else {
      let position = delivery.position
      return """
        <p class="nothing">Read-only. Use the command line: <code>millrace replay --worker \(worker) --topic \(position.topic) --partition \(position.partition) --from \(position.offset) --to \(position.offset + 1) --reapply …</code></p>
        """
    }
    return """
      <form class="decide" method="post" action="\(delivery.link(to: worker))" aria-label="Resend">
      <input type="hidden" name="token" value="\(token)">
      <p><label for="why">Why should it be posted again?</label><input id="why" name="why" required maxlength="500" aria-describedby="why-note" autocomplete="off"></p>
      <p id="why-note" class="sub">Stored with the command and in the audit trail, under your name: \(context.visitor.name). The post has the same webhook-id. A webhook that does not subscribe the event posts nothing.</p>
      <p class="actions"><button class="go">Resend</button></p>
      </form>
      """
  }

  private var facts: [HTML] {
    let position = delivery.position
    let all: [(HTML, HTML?)] = [
      ("Key", "<a class=\"code\" href=\"\(Link.to(["timeline"], [("id", delivery.key)]))\">\(delivery.key)</a>"),
      ("webhook-id", "<span class=\"code\">\(delivery.id)</span>"),
      ("Published", "\(Words.exact(delivery.publishedAt)), \(Words.relative(delivery.publishedAt, now: now))"),
      (
        "Position",
        "<span class=\"code\">\(position.topic), partition \(position.partition), offset \(position.offset)</span>"
      ),
      ("Last answer", failures.answer.map { "<span class=\"code\">\($0)</span>" }),
    ]
    return all.compactMap { name, value in value.map { "<dt>\(name)</dt><dd>\($0)</dd>" } }
  }

  private var content: HTML {
    guard context.showsPayloads else { return Layout.payloadHidden }
    return payload.map { "<pre tabindex=\"0\">\($0)</pre>" } ?? Layout.nothing("The record has no payload.")
  }
}

/// Says that an event is sent again.
struct ResendView: Sendable {
  let worker: String
  /// The run that sends it.
  let run: String
  let context: PageContext

  var page: HTML {
    Layout.page(
      "Resend: requested", context,
      """
      <p class="crumbs"><a href="\(Link.to(["webhooks", WebhookRow.name(of: worker)]))">Webhook \(WebhookRow.name(of: worker))</a></p>
      <h1>Resend requested</h1>
      <p class="lead">The webhook posts the event when it runs. The run <a class="code" href="\(Link.to(["runs", run]))">\(run)</a> says what became of it.</p>
      """)
  }
}
