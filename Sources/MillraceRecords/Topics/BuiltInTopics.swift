// Generated from topics/ by `scripts/check docs --write`.
// swift-format-ignore-file

/// The topic files of this version, for processes without a directory of topic files.
enum BuiltInTopics {
  /// The files of the shared topics.
  static let shared: [(file: String, text: String)] = [
    ("topics/appstore.consumption-answers.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: appstore.consumption-answers
description: >-
  Answers to consumption requests that you provide before Apple asks, keyed by transactionId or by appAccountToken in
  lower case. Your systems write answers and remove them with tombstones. Read by millrace-consumption if `topic` is
  among its providers.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: compact
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  unclean.leader.election.enable: false

"""#),
    ("topics/appstore.decoded.notifications.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: appstore.decoded.notifications
description: >-
  Every notification as flat JSON, without its signed tokens, keyed like the notification. Written by
  millrace-decoder; read by consumers that cannot verify a token, such as Kafka Connect, and by millrace-postgres.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: delete
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  retention.ms: 2592000000 # 30 days
  unclean.leader.election.enable: false

"""#),
    ("topics/appstore.decoded.transactions.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: appstore.decoded.transactions
description: >-
  Every token inside a notification as flat JSON: transactions, renewal infos and app transactions, keyed like the
  notification. Written by millrace-decoder; read by consumers that cannot verify a token, and by millrace-postgres.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: delete
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  retention.ms: 2592000000 # 30 days
  unclean.leader.election.enable: false

"""#),
    ("topics/appstore.entitlements.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: appstore.entitlements
description: >-
  The current state of each transaction that was refunded, reinstated or is no longer shared, keyed by transactionId.
  Written by millrace-refunds in the same transaction as its events; read by any consumer that needs a table.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: compact
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  unclean.leader.election.enable: false

"""#),
    ("topics/appstore.notifications.advanced-commerce.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: appstore.notifications.advanced-commerce
description: >-
  Changes that the team's own calls of the Advanced Commerce API caused. Written by millrace-ingress; read by consumers
  that use that API.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: delete
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  retention.ms: 2592000000 # 30 days
  unclean.leader.election.enable: false
notifications:
  v2:
    - METADATA_UPDATE
    - MIGRATION
    - PRICE_CHANGE

"""#),
    ("topics/appstore.notifications.consent.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: appstore.notifications.consent
description: >-
  A parent or guardian withdrew consent for a child's use of the app. Written by millrace-ingress; read by the team that
  must end that use.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: delete
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  retention.ms: 2592000000 # 30 days
  unclean.leader.election.enable: false
notifications:
  v2:
    - RESCIND_CONSENT

"""#),
    ("topics/appstore.notifications.consumption-requests.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: appstore.notifications.consumption-requests
description: >-
  Apple requests consumption information before it decides on a refund; the answer is due in 12 hours. Written by
  millrace-ingress; read by the consumption worker, which answers.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: delete
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  retention.ms: 2592000000 # 30 days
  unclean.leader.election.enable: false
notifications:
  v2:
    - CONSUMPTION_REQUEST
  v1:
    - CONSUMPTION_REQUEST

"""#),
    ("topics/appstore.notifications.external-purchases.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: appstore.notifications.external-purchases
description: >-
  Tokens of external purchases that were created, are unreported, or expire soon. Written by millrace-ingress; read by
  the team that reports external purchases to Apple.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: delete
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  retention.ms: 2592000000 # 30 days
  unclean.leader.election.enable: false
notifications:
  v2:
    - EXTERNAL_PURCHASE_TOKEN

"""#),
    ("topics/appstore.notifications.purchases.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: appstore.notifications.purchases
description: >-
  Purchases that do not renew: consumables, non-consumables and non-renewing subscriptions. Written by millrace-ingress;
  read by fulfilment consumers and the forward worker.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: delete
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  retention.ms: 2592000000 # 30 days
  unclean.leader.election.enable: false
notifications:
  v2:
    - ONE_TIME_CHARGE

"""#),
    ("topics/appstore.notifications.refunds.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: appstore.notifications.refunds
description: >-
  Refunds, declined refunds, reversed refunds, and revoked access. Written by millrace-ingress; read by the refunds
  worker, which publishes revocations and reinstatements, and by the consumption worker, which publishes outcomes.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: delete
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  retention.ms: 2592000000 # 30 days
  unclean.leader.election.enable: false
notifications:
  v2:
    - REFUND
    - REFUND_DECLINED
    - REFUND_REVERSED
    - REVOKE
  v1:
    - CANCEL
    - REFUND
    - REVOKE

"""#),
    ("topics/appstore.notifications.renewal-extensions.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: appstore.notifications.renewal-extensions
description: >-
  Results of renewal date extensions: the extended subscriptions, the failures, and the summary. Written by
  millrace-ingress; read by the renewal-extensions worker, which retries failures within Apple's limit.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: delete
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  retention.ms: 2592000000 # 30 days
  unclean.leader.election.enable: false
notifications:
  v2:
    - RENEWAL_EXTENDED
    - RENEWAL_EXTENSION

"""#),
    ("topics/appstore.notifications.subscriptions.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: appstore.notifications.subscriptions
description: >-
  The lifecycle of subscriptions: started, renewed, failed to renew, changed, expired. Written by millrace-ingress; read
  by entitlement and lifecycle consumers, and the forward worker.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: delete
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  retention.ms: 2592000000 # 30 days
  unclean.leader.election.enable: false
notifications:
  v2:
    - SUBSCRIBED
    - DID_RENEW
    - DID_FAIL_TO_RENEW
    - GRACE_PERIOD_EXPIRED
    - EXPIRED
    - DID_CHANGE_RENEWAL_PREF
    - DID_CHANGE_RENEWAL_STATUS
    - OFFER_REDEEMED
    - PRICE_INCREASE
  v1:
    - INITIAL_BUY
    - DID_RENEW
    - DID_FAIL_TO_RENEW
    - DID_RECOVER
    - DID_CHANGE_RENEWAL_PREF
    - DID_CHANGE_RENEWAL_STATUS
    - INTERACTIVE_RENEWAL
    - PRICE_INCREASE_CONSENT
    - RENEWAL

"""#),
    ("topics/appstore.notifications.tests.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: appstore.notifications.tests
description: >-
  Test notifications that were requested with Request a Test Notification. Written by millrace-ingress; read by
  operators who check that notifications arrive.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: delete
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  retention.ms: 604800000 # 7 days
  unclean.leader.election.enable: false
notifications:
  v2:
    - TEST

"""#),
    ("topics/appstore.notifications.unrecognized.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: appstore.notifications.unrecognized
description: >-
  Genuine notifications of a type that no topic file names, because Apple added it or a file lacks it. Written by
  millrace-ingress; read by operators. To give the type a topic, name it in a topic file, then replay.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: delete
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  retention.ms: 7776000000 # 90 days
  unclean.leader.election.enable: false
notifications:
  unrecognized: true

"""#),
    ("topics/appstore.purchases.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: appstore.purchases
description: >-
  The state of each non-consumable and non-renewing purchase, keyed by transactionId: whether the customer owns it.
  Written by millrace-subscriptions in the same transaction as its events; read by any consumer that needs a table.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: compact
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  unclean.leader.election.enable: false

"""#),
    ("topics/appstore.subscriptions.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: appstore.subscriptions
description: >-
  The state of each subscription, keyed by originalTransactionId: status, period, renewal, and the time up to which the
  customer is entitled. Written by millrace-subscriptions in the same transaction as its events; read by any consumer
  that needs a table.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: compact
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  unclean.leader.election.enable: false

"""#),
    ("topics/appstore.transactions.refunds.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: appstore.transactions.refunds
description: >-
  Refunds from Apple's API that no notification reported. Written by `millrace refunds check`; read by the refunds
  worker as one of the topics of a lane.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: delete
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  retention.ms: 2592000000 # 30 days
  unclean.leader.election.enable: false

"""#),
    ("topics/millrace.audit.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: millrace.audit
description: >-
  The audit log: every replay, requeue, discard, backfill, import, resubmission, change of topics and console action with
  its operator, selection, start time, number of records and result. Written by `millrace`, the console and the workers; read by operators.
keyed: true
lanes: 1
replication: 3
promise: true
settings:
  cleanup.policy: delete
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  retention.ms: 94608000000 # three years
  unclean.leader.election.enable: false

"""#),
    ("topics/millrace.backfills.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: millrace.backfills
description: >-
  Runs of `millrace backfill`: the range of Apple's notification history, the progress of each slice, operators'
  commands, and the position of `--follow`. Written and read by `millrace backfill`; read by the console.
keyed: true
lanes: 1
replication: 3
promise: false
settings:
  cleanup.policy: compact
  max.message.bytes: 1048576
  min.insync.replicas: 2
  unclean.leader.election.enable: false

"""#),
    ("topics/millrace.campaigns.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: millrace.campaigns
description: >-
  Mass extensions of renewal dates: the requests to Apple, their completion, cancelled retries, and the failures that an
  operator assigned to a campaign. Written by `millrace campaigns` and the renewal-extensions worker, and read
  completely by both.
keyed: true
lanes: 1
replication: 3
promise: true
settings:
  cleanup.policy: compact
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  unclean.leader.election.enable: false

"""#),
    ("topics/millrace.control.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: millrace.control
description: >-
  Notices between processes: the time until which Apple accepts no calls to an endpoint (429), that a process is alive
  after it lost a lane, reports of processes about themselves, the alerts that were posted, and the history of lag and dead
  letters. Written and read by every process that calls Apple, by workers, and by the console.
keyed: true
lanes: 1
replication: 3
promise: false
settings:
  cleanup.policy: compact
  max.message.bytes: 1048576
  min.insync.replicas: 2
  segment.ms: 3600000
  unclean.leader.election.enable: false

"""#),
    ("topics/millrace.ingress.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: millrace.ingress
description: >-
  Reports of ingress processes about themselves: how many requests they refused, by reason. Written only by the ingress;
  read by the console and by `millrace status`.
keyed: true
lanes: 1
replication: 3
promise: false
settings:
  cleanup.policy: compact
  max.message.bytes: 1048576
  min.insync.replicas: 2
  segment.ms: 3600000
  unclean.leader.election.enable: false

"""#),
    ("topics/millrace.operations.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: millrace.operations
description: >-
  Operators' commands to workers (requeue, discard) and their results. The first command for an item wins. The owner of
  the item's lane executes it and writes the result in the same transaction.
keyed: true
lanes: 1
replication: 3
promise: true
settings:
  cleanup.policy: delete
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  retention.ms: 31536000000 # a year, as long as dead letters
  unclean.leader.election.enable: false

"""#),
    ("topics/millrace.quarantine.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: millrace.quarantine
description: >-
  Rejected bodies that may be genuine: only the chain cannot be verified, the app or environment is not configured (503,
  or 401 with `ingress.unverifiable: refuse`), or only the outer signature is valid (401). Values are the V2 JWS, or the
  V1 body without its password. Partition 0 has bodies whose outer part is genuine, partition 1 bodies that anyone can
  make. `retention.bytes` applies to each partition, so forgeries cannot displace genuine bodies. Written by
  millrace-ingress; read by `millrace quarantine`, which verifies them again.
keyed: false
lanes: 2
replication: 3
promise: false
settings:
  cleanup.policy: delete
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 1
  retention.bytes: 1073741824 # 1 GiB per partition
  retention.ms: 1209600000 # 14 days
  segment.bytes: 67108864 # 64 MiB, so that a partition exceeds the limit by at most a sixteenth
  unclean.leader.election.enable: true

"""#),
    ("topics/millrace.refund-checks.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: millrace.refund-checks
description: >-
  The position of `millrace refunds check` in each customer's refunds: the revision at which Apple continues. Written
  and read only by that command.
keyed: true
lanes: 1
replication: 3
promise: false
settings:
  cleanup.policy: compact
  max.message.bytes: 1048576
  min.insync.replicas: 2
  unclean.leader.election.enable: false

"""#),
    ("topics/millrace.subscription-imports.yaml", #"""
# yaml-language-server: $schema=schemas/topic.schema.json
name: millrace.subscription-imports
description: >-
  Purchases of customers from before Millrace, about which millrace-subscriptions asks Apple. Written by `millrace
  subscriptions import`; read by the subscriptions worker as one of the topics of a lane.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: delete
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  retention.ms: 2592000000 # 30 days
  unclean.leader.election.enable: false

"""#),
  ]

  /// The files of the topics that every worker has.
  static let workers: [(file: String, text: String)] = [
    ("topics/workers/dead-letters.yaml", #"""
# yaml-language-server: $schema=../schemas/topic.schema.json
name: millrace.{worker}.dead-letters
description: >-
  Notifications that the worker {worker} gave up: the original bytes with the reason, the causes, and how to requeue
  them. Read by operators with `millrace dead-letters`. A lane topic.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: delete
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  retention.ms: 31536000000 # a year
  unclean.leader.election.enable: false

"""#),
    ("topics/workers/events.yaml", #"""
# yaml-language-server: $schema=../schemas/topic.schema.json
name: appstore.events.{worker}
description: >-
  Events that the worker {worker} publishes: CloudEvents with JSON content. An event keeps its id if its handler runs
  again. Read by any consumer, with isolation.level=read_committed.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: delete
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  retention.ms: 2592000000 # 30 days
  unclean.leader.election.enable: false

"""#),
    ("topics/workers/ledger.yaml", #"""
# yaml-language-server: $schema=../schemas/topic.schema.json
name: millrace.{worker}.ledger
description: >-
  The notifications that the worker {worker} has handled and the effects it has caused. A lane restores its part when it
  starts. The worker removes notifications that are older than its horizon, and keeps effects for ever. A lane topic.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: compact
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  unclean.leader.election.enable: false

"""#),
    ("topics/workers/replay.yaml", #"""
# yaml-language-server: $schema=../schemas/topic.schema.json
name: millrace.{worker}.replay
description: >-
  Records sent to the worker {worker} again, by `millrace replay` and by requeued dead letters. Live traffic has
  priority. A lane topic.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: delete
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  retention.ms: 2592000000 # 30 days
  unclean.leader.election.enable: false

"""#),
    ("topics/workers/retry.yaml", #"""
# yaml-language-server: $schema=../schemas/topic.schema.json
# One topic for each retry delay. Every entry of `workers` in the configuration replaces {worker} and {delay}.
name: millrace.{worker}.retry.{delay}
description: >-
  Records of the worker {worker} that wait {delay} before a retry, with their original bytes, key and partition. Written
  and read only by the worker. A lane topic.
keyed: true
replication: 3
promise: true
settings:
  cleanup.policy: delete
  max.message.bytes: 4194304 # 4 MiB, the producer's limit
  min.insync.replicas: 2
  retention.ms: 2592000000 # 30 days
  unclean.leader.election.enable: false

"""#),
  ]
}
