// The rights of every process. scripts/checks/chart/test_rights.py compares the printed table with the topics in the
// code.

extension ProcessRights {
  /// The rows, in the order of the page.
  package static let table = programs + commands + readers

  private static let programs: [ProcessRights] = [
    ProcessRights(
      .program, "`millrace-ingress`", ["millrace-ingress"],
      [
        .writes("appstore.notifications.*", "millrace.quarantine", "millrace.ingress"),
        .settings("appstore.notifications.*", "millrace.quarantine"),
      ]),
    ProcessRights(
      .workers,
      """
      every worker: `millrace-subscriptions`, `millrace-refunds`, `millrace-renewal-extensions`, \
      `millrace-consumption`, `millrace-decoder`, `millrace-forward`, `millrace-worker`, yours; `millrace workers` for each \
      worker that it runs
      """, [],
      [
        .readsFamilies(and: "millrace.<worker>.*", "millrace.operations", "millrace.control"),
        .writes(
          "millrace.<worker>.*", "appstore.events.<worker>", "millrace.operations", "millrace.control",
          "millrace.audit"),
        .settingsOfFamilies(and: "millrace.<worker>.*"),
        .member(of: "millrace.<worker>"), .transactionalIDs("millrace.<worker>."),
      ]),
    // A configuration names the topics of these events, as it names families.
    ProcessRights(
      .outside, "`millrace-worker` besides, for `webhooks`", [],
      [.unnamed(.reads, "`appstore.events.*`, and none of its families")]),
    ProcessRights(
      .besides, "`millrace-decoder` besides", ["millrace-decoder"],
      [
        .reads("appstore.transactions.refunds"),
        .writes("appstore.decoded.notifications", "appstore.decoded.transactions"),
      ]),
    ProcessRights(
      .besides, "`millrace-subscriptions` besides", ["millrace-subscriptions"],
      [
        .reads("millrace.subscription-imports"),
        .writes("appstore.subscriptions", "appstore.purchases", "millrace.subscription-imports"),
      ]),
    ProcessRights(
      .besides, "`millrace-refunds` besides", ["millrace-refunds"],
      [.reads("appstore.transactions.refunds"), .writes("appstore.entitlements")]),
    ProcessRights(
      .besides, "`millrace-renewal-extensions` besides", ["millrace-renewal-extensions"],
      [.reads("millrace.campaigns"), .writes("millrace.campaigns")]),
    ProcessRights(
      .besides, "`millrace-consumption` besides", ["millrace-consumption"],
      [
        .reads("appstore.transactions.refunds"),
        .reads("appstore.consumption-answers", when: "where its setting `providers` has `topic`"),
      ]),
    ProcessRights(
      .program, "`millrace-console`", ["millrace-console"],
      [
        .reads(
          "appstore.notifications.*", "appstore.events.*", "millrace.quarantine", "millrace.<worker>.*",
          "millrace.operations", "millrace.campaigns", "millrace.backfills", "millrace.audit", "millrace.control",
          "millrace.ingress",
          "appstore.subscriptions", "appstore.purchases", "appstore.entitlements", "appstore.transactions.refunds",
          "millrace.subscription-imports"),
        .writes(
          "appstore.notifications.*", "millrace.operations", "millrace.backfills", "millrace.audit",
          when: "with `--allow-actions`"),
        .writes("millrace.control"),
        .describes(group: "millrace.<worker>"), .describes(group: "millrace.postgres", when: "with `postgres.url`"),
        .transactionalIDs("millrace.replay.", when: "with `--allow-actions`"),
        .member(of: "millrace.alerts", when: "with `alerts.webhook`"),
      ]),
    ProcessRights(
      .program, "`millrace backfill`, also with `--follow`", ["millrace-backfill"],
      [
        .reads("appstore.notifications.*", "millrace.backfills", "millrace.control", "millrace.operations"),
        .reads("millrace.<worker>.ledger", when: "without `--follow`"),
        .writes(
          "appstore.notifications.*", "millrace.quarantine", "millrace.backfills", "millrace.control",
          "millrace.audit"),
        .settings("appstore.notifications.*", "millrace.quarantine", "millrace.backfills", "millrace.control"),
        .describes(group: "millrace.<worker>", when: "without `--follow`"),
      ]),
  ]

  private static let commands: [ProcessRights] = [
    ProcessRights(
      .command, "`millrace listen`, `millrace compare`", ["millrace-cli-listen", "millrace-cli-compare"],
      [
        .reads("appstore.notifications.*", "millrace.quarantine"),
        .reads("appstore.*", "millrace.*", when: "with `--all`"),
        .unnamed(.reads, "other topics that the options name"),
      ]),
    ProcessRights(
      .command, "`millrace quarantine`", ["millrace-cli-quarantine"],
      [
        .reads("millrace.quarantine"),
        .writes("appstore.notifications.*", "millrace.audit", when: "`resubmit`"),
      ]),
    ProcessRights(
      .command, "`millrace dead-letters`", ["millrace-cli-dead-letters"],
      [
        .reads(
          "millrace.<worker>.dead-letters", "millrace.<worker>.replay", "millrace.operations", "millrace.audit"),
        .writes("millrace.operations", "millrace.audit", when: "all but `list` and `show`"),
      ]),
    ProcessRights(
      .command, "`millrace replay`", ["millrace-cli-replay"],
      [
        .reads(
          "appstore.notifications.*", "millrace.<worker>.dead-letters", "millrace.<worker>.replay",
          "millrace.operations"),
        .reads("millrace.audit", when: "`stop`, `status`"), .reads("millrace.backfills", when: "`stop`"),
        .reads(
          "millrace.<worker>.ledger", "millrace.subscription-imports", "appstore.transactions.refunds",
          when: "`status`"),
        .unnamed(.reads, "other topics that it sends"),
        .writes("millrace.operations", "millrace.audit", when: "all but `list` and `status`"),
        .describes(group: "millrace.<worker>", when: "`status`"),
        .transactionalIDs("millrace.replay.", when: "to begin one, where the cluster has transactions"),
      ]),
    ProcessRights(
      .command, "the same with `--to-topic`, and `resume --here`", ["millrace-cli-replay"],
      [
        .unnamed(.reads, "the topic that it sends to", when: "with `--to-topic`"),
        .unnamed(.writes, "the topic that it sends to", when: "with `--to-topic`"),
        .unnamed(.identities, "the same transactional ids"),
      ]),
    ProcessRights(
      .command, "`millrace audit`", ["millrace-cli-audit"],
      [.reads("millrace.audit", "millrace.operations", "millrace.backfills")]),
    ProcessRights(
      .command, "`millrace api extend`", ["millrace-cli-api"],
      [.reads("millrace.audit"), .writes("millrace.audit")]),
    ProcessRights(
      .command, "`millrace campaigns`", ["millrace-cli-campaigns"],
      [
        .reads(
          "millrace.campaigns", "millrace.operations", "millrace.renewal-extensions.ledger",
          "millrace.renewal-extensions.dead-letters", "millrace.renewal-extensions.replay"),
        .writes("millrace.campaigns", "millrace.audit", when: "all but `list` and `show`"),
        .writes("millrace.operations", when: "`adopt`, `resolve`"),
      ]),
    ProcessRights(
      .command, "`millrace subscriptions`", ["millrace-cli-subscriptions"],
      [
        .reads("appstore.subscriptions", "appstore.purchases", when: "`show`, `verify`"),
        .reads("appstore.entitlements", "appstore.notifications.*", "millrace.quarantine", when: "`show`"),
        .reads("millrace.operations", when: "`show`, `import`"),
        .reads(
          "millrace.subscription-imports", "millrace.subscriptions.*", "millrace.<worker>.ledger", when: "`import`"),
        .writes("millrace.subscription-imports", "millrace.audit", when: "`import`"),
        .describes(group: "millrace.<worker>", when: "`import`"),
      ]),
    ProcessRights(
      .command, "`millrace timeline`", ["millrace-cli-timeline"],
      [
        .reads(
          "appstore.notifications.*", "appstore.events.*", "appstore.subscriptions", "appstore.purchases",
          "appstore.entitlements", "millrace.<worker>.*", "millrace.operations", "millrace.quarantine"),
        .describes(group: "millrace.<worker>"),
      ]),
    ProcessRights(
      .command, "`millrace refunds`", ["millrace-cli-refunds"],
      [
        .reads(
          "appstore.notifications.*", "appstore.entitlements", "millrace.refund-checks",
          "appstore.transactions.refunds",
          "millrace.<worker>.ledger"),
        .writes("appstore.transactions.refunds", "millrace.refund-checks", "millrace.audit"),
        .describes(group: "millrace.<worker>"),
      ]),
    ProcessRights(
      .command, "`millrace webhooks`", ["millrace-cli-webhooks"],
      [
        .reads("millrace.<worker>.*", "appstore.events.*", "millrace.operations", when: "`list`"),
        .writes("millrace.operations", "millrace.audit", when: "`pause`, `resume`"),
        .describes(group: "millrace.<worker>", when: "`list`"),
      ]),
    ProcessRights(
      .command, "`millrace handler`", ["millrace-cli-handler"],
      [.unnamed(.reads, "the topic of the record", when: "`send --record`")]),
    ProcessRights(
      .command, "`millrace doctor`", ["millrace-cli-doctor"],
      [
        .reads(
          "appstore.notifications.*", "appstore.events.*", "millrace.quarantine", "millrace.<worker>.*",
          "millrace.operations", "millrace.campaigns", "millrace.backfills", "millrace.audit", "millrace.control",
          "millrace.ingress"),
        .everyTopic("describes every topic", .reads, .describe),
        .writes("millrace.control"), .describes(group: "millrace.<worker>"),
        .describes(group: "millrace.postgres", when: "with `postgres.url`"),
        .everyTopic("every topic", .settings, .describeConfigs),
      ]),
    ProcessRights(
      .command, "`millrace status`", ["millrace-cli-status"],
      [
        .reads(
          "appstore.notifications.*", "appstore.events.*", "millrace.quarantine", "millrace.<worker>.*",
          "millrace.operations", "millrace.campaigns", "millrace.backfills", "millrace.audit", "millrace.control",
          "millrace.ingress"),
        .describes(group: "millrace.<worker>"), .describes(group: "millrace.postgres", when: "with `postgres.url`"),
      ]),
    ProcessRights(
      .program, "`millrace topics`", ["millrace-topics"],
      [
        .everyTopic("describes every topic", .reads, .describe),
        .everyTopic(
          "creates topics and alters their settings", .writes, .create, .alter, .alterConfigs, when: "`apply`"),
        .writes("millrace.audit", when: "`apply`"),
        .everyTopic("every topic", .settings, .describeConfigs),
      ]),
    ProcessRights(
      .command, "`millrace topics relane`", ["millrace-topics"],
      [
        .unnamed(.reads, "every topic with the old prefix"),
        .unnamed(.writes, "every topic with the new prefix"),
        .unnamed(.identities, "the groups of workers with both prefixes"),
        .transactionalIDs("millrace.replay."),
      ]),
    ProcessRights(
      .command, "`millrace privacy`", ["millrace-cli-privacy"],
      [
        .reads(
          "appstore.notifications.*", "appstore.subscriptions", "appstore.purchases", "appstore.entitlements",
          "millrace.operations"),
        .writes("millrace.operations", "millrace.audit"),
      ]),
  ]

  private static let readers: [ProcessRights] = [
    ProcessRights(
      .program, "`millrace-postgres`, `millrace postgres`", ["millrace-postgres"],
      [
        .reads(
          "appstore.subscriptions", "appstore.purchases", "appstore.entitlements", "appstore.events.*",
          "appstore.decoded.*"),
        .writes("millrace.control"), .member(of: "millrace.postgres"),
      ]),
    ProcessRights(
      .outside, "your systems, and consumers without a worker", [],
      [
        .reads(
          "appstore.notifications.*", "appstore.decoded.*", "appstore.events.*", "appstore.subscriptions",
          "appstore.purchases", "appstore.entitlements"),
        .writes("appstore.consumption-answers"), .unnamed(.identities, "their own group"),
      ]),
  ]
}
