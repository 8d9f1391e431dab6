"""Generates the Grafana dashboards in helm/millrace/files/dashboards. A dashboard is a list of rows of panels."""

import json
from dataclasses import dataclass, field

from places import CHART

FOLDER = CHART / "files" / "dashboards"
ACROSS = 24


@dataclass
class Panel:
    """A panel. `queries` holds pairs of an expression and its legend."""

    title: str
    queries: list
    unit: str = "short"
    about: str = ""
    kind: str = "timeseries"
    # Thresholds of a single number as pairs of a colour and a value.
    steps: list = field(default_factory=list)


def number(title, query, unit="short", about="", bad=None):
    """A panel with a single number, which is red from `bad` on."""
    steps = [("green", None)] + ([("red", bad)] if bad is not None else [])
    return Panel(title, [(query, "")], unit, about, "stat", steps)


RATE = "[5m]"
ACCEPTED = f"rate(millrace_ingress_accepted_total{RATE})"
REFUSED = f"rate(millrace_ingress_refused_total{RATE})"


def quantiles(metric, by="", is_rare=False):
    """p50 and p99 of a histogram. Rare events are counted since the process started, not as a rate."""
    buckets = f"{metric}_bucket" if is_rare else f"rate({metric}_bucket{RATE})"
    group = f"{by}, le" if by else "le"
    legend = f" {{{{{by}}}}}" if by else ""
    return [
        (f"histogram_quantile({q}, sum by ({group}) ({buckets}))", f"{name}{legend}")
        for q, name in ((0.5, "p50"), (0.99, "p99"))
    ]


DASHBOARDS = {
    "overview": (
        "Millrace: overview",
        [
            (
                "Now",
                [
                    number(
                        "Accepted per second",
                        f"sum({ACCEPTED})",
                        "reqps",
                        "Answered 200 after Kafka's acknowledgement.",
                    ),
                    number(
                        "Rejected per second",
                        f"sum({REFUSED}) or vector(0)",
                        "reqps",
                        "Any client can post. The ingress dashboard shows the reasons.",
                    ),
                    number(
                        "503 responses per second",
                        f'sum(rate(millrace_ingress_refused_total{{status="503"}}{RATE})) or vector(0)',
                        "reqps",
                        "Apple retries these in Production, but not in Sandbox.",
                        0.05,
                    ),
                    number(
                        "Oldest unfinished record",
                        "max(millrace_worker_lag_seconds)",
                        "s",
                        "The age of the oldest unfinished record in all lanes of all workers.",
                        300,
                    ),
                    number(
                        "Dead letters in 24 hours",
                        "sum(increase(millrace_worker_dead_letters_total[1d])) or vector(0)",
                        about="Notifications that workers gave up.",
                        bad=1,
                    ),
                    number(
                        "Connected brokers, minimum",
                        "min(millrace_kafka_brokers_up)",
                        about="The fewest brokers that any client is connected to.",
                    ),
                ],
            ),
            (
                "Throughput",
                [
                    Panel("Accepted by type", [(f"sum by (type) ({ACCEPTED}) > 0", "{{type}}")], "reqps"),
                    Panel(
                        "Accepted by app",
                        [
                            (
                                f"sum by (app, environment) (rate(millrace_ingress_app_accepted_total{RATE}))",
                                "{{app}} {{environment}}",
                            )
                        ],
                        "reqps",
                    ),
                    Panel(
                        "Finished records by worker and outcome",
                        [
                            (
                                f"sum by (worker, outcome) (rate(millrace_worker_records_total{RATE}))",
                                "{{worker}} {{outcome}}",
                            )
                        ],
                        "ops",
                    ),
                    Panel(
                        "Events published",
                        [(f"sum by (worker, event) (rate(millrace_worker_events_total{RATE}))", "{{event}}")],
                        "ops",
                    ),
                ],
            ),
            (
                "Processes",
                [
                    Panel("Memory", [("process_resident_memory_bytes", "{{instance}}")], "bytes"),
                    Panel("CPU", [(f"rate(process_cpu_seconds_total{RATE})", "{{instance}}")], "percentunit"),
                    Panel(
                        "Longest gap between heartbeats",
                        [("millrace_heartbeat_longest_gap_seconds", "{{instance}}")],
                        "s",
                        "A heartbeat is due every second; /livez fails after 15 s.",
                    ),
                    Panel(
                        "Threads and open file descriptors",
                        [("process_threads", "threads {{instance}}"), ("process_open_fds", "files {{instance}}")],
                    ),
                ],
            ),
        ],
    ),
    "ingress": (
        "Millrace: ingress",
        [
            (
                "Answers",
                [
                    Panel("Accepted by version", [(f"sum by (version) ({ACCEPTED})", "{{version}}")], "reqps"),
                    Panel(
                        "Rejected by reason",
                        [(f"sum by (reason, status) ({REFUSED})", "{{status}} {{reason}}")],
                        "reqps",
                        "docs/ingress.md explains each reason.",
                    ),
                    Panel(
                        "Response time",
                        quantiles("millrace_ingress_request_duration_seconds"),
                        "s",
                        "From the end of a request's head to the response. Apple waits a few seconds.",
                    ),
                    Panel(
                        "Kafka acknowledgement time",
                        quantiles("millrace_ingress_acknowledgement_duration_seconds"),
                        "s",
                    ),
                ],
            ),
            (
                "Load",
                [
                    Panel(
                        "Requests in flight",
                        [("sum by (instance) (millrace_ingress_requests_in_flight)", "{{instance}}")],
                        about="Above ingress.maxRequestsInFlight the ingress answers 503 `busy`.",
                    ),
                    Panel(
                        "Slow clients",
                        [(f"sum by (part) (rate(millrace_ingress_slow_clients_total{RATE})) or vector(0)", "{{part}}")],
                        "ops",
                        "Connections closed because a head or a body took too long.",
                    ),
                    Panel(
                        "Quarantined bodies",
                        [(f"sum by (outcome) (rate(millrace_ingress_quarantined_total{RATE}))", "{{outcome}}")],
                        "ops",
                    ),
                    Panel(
                        "Unacknowledged messages",
                        [("sum by (instance, client) (millrace_kafka_queued_messages)", "{{instance}} {{client}}")],
                    ),
                    Panel(
                        "Producers replaced",
                        [
                            (
                                "sum by (client, code) (increase(millrace_kafka_producer_replacements_total[15m])) "
                                "or vector(0)",
                                "{{client}} {{code}}",
                            )
                        ],
                        about="After a fatal error the process continues with a new producer.",
                    ),
                ],
            ),
            (
                "Certificates",
                [
                    Panel(
                        "Expiry of Apple's signing certificates",
                        [("max by (leaf) (millrace_ingress_apple_certificate_end_seconds) * 1000", "{{leaf}}")],
                        "dateTimeAsIso",
                        kind="table",
                    ),
                    number(
                        "Own certificate expires in",
                        "min(millrace_ingress_certificate_end_seconds) - time()",
                        "s",
                        "Only if the ingress terminates TLS.",
                    ),
                    Panel(
                        "Kafka client errors",
                        [
                            (
                                f"sum by (client, code) (rate(millrace_kafka_errors_total{RATE})) or vector(0)",
                                "{{client}} {{code}}",
                            )
                        ],
                        "ops",
                    ),
                    Panel(
                        "Delays by quotas of the cluster",
                        [
                            (
                                f"sum by (instance, client) (rate(millrace_kafka_throttled_seconds_total{RATE}))",
                                "{{instance}} {{client}}",
                            )
                        ],
                        "s",
                    ),
                ],
            ),
        ],
    ),
    "workers": (
        "Millrace: workers",
        [
            (
                "Lag",
                [
                    Panel(
                        "Oldest unfinished record",
                        [("max by (worker) (millrace_worker_lag_seconds)", "{{worker}}")],
                        "s",
                    ),
                    Panel(
                        "Unread offsets",
                        [("sum by (worker, topic) (millrace_worker_lag_records)", "{{worker}} {{topic}}")],
                    ),
                    Panel("Records in flight", [("sum by (worker) (millrace_worker_records_in_flight)", "{{worker}}")]),
                ],
            ),
            (
                "Outcomes",
                [
                    Panel(
                        "Records by type and outcome",
                        [
                            (
                                f"sum by (worker, type, outcome) (rate(millrace_worker_records_total{RATE}))",
                                "{{worker}} {{type}} {{outcome}}",
                            )
                        ],
                        "ops",
                    ),
                    Panel("Handler duration", quantiles("millrace_worker_handler_duration_seconds", "worker"), "s"),
                    Panel(
                        "Delayed records by reason",
                        [
                            (
                                f"sum by (worker, reason) (rate(millrace_worker_retries_total{RATE}))",
                                "{{worker}} {{reason}}",
                            )
                        ],
                        "ops",
                    ),
                    Panel(
                        "Retry lateness",
                        quantiles("millrace_worker_retry_lateness_seconds", "worker"),
                        "s",
                        "From a retry's due time to its handler's start.",
                    ),
                    Panel(
                        "Dead letters",
                        [
                            (
                                "sum by (worker, reason) (increase(millrace_worker_dead_letters_total[1h]))",
                                "{{worker}} {{reason}}",
                            )
                        ],
                    ),
                    Panel(
                        "Failed timers",
                        [
                            (
                                "sum by (worker, reason) (increase(millrace_worker_timer_failures_total[1h])) "
                                "or vector(0)",
                                "{{worker}} {{reason}}",
                            )
                        ],
                    ),
                    number("Handlers beyond their timeout", "sum(millrace_worker_handlers_stuck)", bad=1),
                    number("Timers that fail", "sum(millrace_worker_timers_failing)", bad=1),
                ],
            ),
            (
                "Lanes and ledgers",
                [
                    Panel(
                        "Lanes owned",
                        [("sum by (worker, instance) (millrace_worker_lanes)", "{{worker}} {{instance}}")],
                    ),
                    Panel(
                        "Lane assignments and revocations",
                        [
                            (
                                "sum by (worker, kind) (increase(millrace_worker_rebalances_total[15m]))",
                                "{{worker}} {{kind}}",
                            )
                        ],
                        about="`lost`: a member missed heartbeats for longer than its session timeout.",
                    ),
                    Panel(
                        "Rejoins",
                        [
                            (
                                "sum by (worker, reason) (increase(millrace_worker_rejoins_total[15m])) or vector(0)",
                                "{{worker}} {{reason}}",
                            )
                        ],
                        about="Rejoins after a worker lost its producer. Its lanes restart from the committed offsets.",
                    ),
                    Panel(
                        "Notifications in ledgers", [("sum by (worker) (millrace_worker_ledger_entries)", "{{worker}}")]
                    ),
                    Panel(
                        "Ledger restore time",
                        quantiles("millrace_worker_ledger_restore_duration_seconds", "worker", is_rare=True),
                        "s",
                    ),
                    Panel("Commit duration", quantiles("millrace_worker_commit_duration_seconds", "worker"), "s"),
                    Panel(
                        "Commits",
                        [
                            (
                                f"sum by (worker, result) (rate(millrace_worker_commits_total{RATE}))",
                                "{{worker}} {{result}}",
                            )
                        ],
                        "ops",
                    ),
                    number(
                        "Records lost in 24 hours",
                        "sum(increase(millrace_worker_records_lost_total[1d])) or vector(0)",
                        about="Kafka deleted them before a worker read them (upper bound).",
                        bad=1,
                    ),
                    number(
                        "Unreadable records in 24 hours",
                        "sum(increase(millrace_worker_unreadable_records_total[1d])) or vector(0)",
                        about="Records in shared topics that something other than Millrace wrote.",
                        bad=1,
                    ),
                ],
            ),
        ],
    ),
    "apple-budget": (
        "Millrace: Apple's API and its budget",
        [
            (
                "Budget",
                [
                    Panel(
                        "Share of the budget in use",
                        [
                            (
                                f"sum by (app, environment, endpoint) (rate(millrace_api_turns_total{RATE}))"
                                " / sum by (app, environment, endpoint) (millrace_api_budget_per_second)",
                                "{{endpoint}} {{app}} {{environment}}",
                            )
                        ],
                        "percentunit",
                        "Apple's limits are per app, environment and endpoint.",
                    ),
                    Panel(
                        "Calls",
                        [
                            (
                                f"sum by (endpoint, environment) (rate(millrace_api_turns_total{RATE}))",
                                "{{endpoint}} {{environment}}",
                            )
                        ],
                        "reqps",
                    ),
                    Panel(
                        "Allowed",
                        [
                            (
                                "sum by (endpoint, environment) (millrace_api_budget_per_second)",
                                "{{endpoint}} {{environment}}",
                            )
                        ],
                        "reqps",
                        "Proportional to the owned lanes, and multiplied by appStore.share.",
                    ),
                ],
            ),
            (
                "Waiting",
                [
                    Panel(
                        "Waiting calls",
                        [
                            (
                                "sum by (endpoint, environment) (millrace_api_callers_waiting)",
                                "{{endpoint}} {{environment}}",
                            )
                        ],
                    ),
                    Panel(
                        "Paused after 429",
                        [
                            (
                                "max by (app, environment, endpoint) (millrace_api_paused)",
                                "{{endpoint}} {{app}} {{environment}}",
                            )
                        ],
                        about="1 until the time at which Apple accepts calls again.",
                    ),
                    Panel(
                        "Records delayed for the budget",
                        [
                            (
                                f'sum by (worker, topic) (rate(millrace_worker_retries_total{{reason="waits-for-apple"}}{RATE})) or vector(0)',
                                "{{worker}} {{topic}}",
                            )
                        ],
                        "ops",
                    ),
                ],
            ),
        ],
    ),
    "campaigns": (
        "Millrace: extension campaigns",
        [
            (
                "Last 24 hours",
                [
                    number(
                        "Extended by Millrace",
                        'sum(increase(millrace_worker_events_total{event="extension.applied"}[1d]))',
                    ),
                    number(
                        "Refused by Apple",
                        'sum(increase(millrace_worker_events_total{event="extension.refused"}[1d])) or vector(0)',
                    ),
                    number(
                        "Unclear results",
                        'sum(increase(millrace_worker_events_total{event="extension.unclear"}[1d])) or vector(0)',
                        bad=1,
                    ),
                    number(
                        "Campaigns that differ",
                        'sum(increase(millrace_worker_events_total{event="campaign.differs"}[1d])) or vector(0)',
                        bad=1,
                    ),
                ],
            ),
            (
                "Progress",
                [
                    Panel(
                        "Notifications from Apple",
                        [
                            (
                                f'sum by (type) (rate(millrace_ingress_accepted_total{{type=~"RENEWAL_EXTENDED|RENEWAL_EXTENSION"}}{RATE}))',
                                "{{type}}",
                            )
                        ],
                        "reqps",
                    ),
                    Panel(
                        "Extension events",
                        [
                            (
                                f'sum by (event) (rate(millrace_worker_events_total{{worker="renewal-extensions"}}{RATE}))',
                                "{{event}}",
                            )
                        ],
                        "ops",
                    ),
                    Panel(
                        "Finished records by outcome",
                        [
                            (
                                f'sum by (outcome) (rate(millrace_worker_records_total{{worker="renewal-extensions"}}{RATE}))',
                                "{{outcome}}",
                            )
                        ],
                        "ops",
                    ),
                    Panel(
                        "Oldest unfinished record",
                        [('max by (lane) (millrace_worker_lag_seconds{worker="renewal-extensions"})', "lane {{lane}}")],
                        "s",
                    ),
                    Panel(
                        "Share of the extension budget in use",
                        [
                            (
                                f'sum by (app, environment) (rate(millrace_api_turns_total{{endpoint="extendSubscriptionRenewalDate"}}{RATE}))'
                                ' / sum by (app, environment) (millrace_api_budget_per_second{endpoint="extendSubscriptionRenewalDate"})',
                                "{{app}} {{environment}}",
                            )
                        ],
                        "percentunit",
                    ),
                    Panel(
                        "Delayed records by reason",
                        [
                            (
                                f'sum by (reason) (rate(millrace_worker_retries_total{{worker="renewal-extensions"}}{RATE})) or vector(0)',
                                "{{reason}}",
                            )
                        ],
                        "ops",
                    ),
                ],
            ),
        ],
    ),
    "postgres": (
        "Millrace: PostgreSQL",
        [
            (
                "Tables",
                [
                    Panel(
                        "Rows written by table",
                        [(f"sum by (table) (rate(millrace_postgres_rows_total{RATE}))", "{{table}}")],
                        "ops",
                    ),
                    Panel(
                        "Records not written yet",
                        [("sum by (topic) (millrace_postgres_lag_records)", "{{topic}}")],
                    ),
                    Panel(
                        "Duration of a transaction",
                        quantiles("millrace_postgres_transaction_duration_seconds"),
                        "s",
                    ),
                    Panel(
                        "Failures by SQLSTATE",
                        [(f"sum by (code) (rate(millrace_postgres_failures_total{RATE})) or vector(0)", "{{code}}")],
                        "ops",
                        "connection: the server was not reached. MR001: another process wrote the same records.",
                    ),
                    number("Sessions", "sum(millrace_postgres_connected)"),
                ],
            ),
        ],
    ),
}


def drawn(panel, identifier, x, y, width, height):
    """Grafana's model of a panel."""
    defaults = {"unit": panel.unit}
    if panel.steps:
        defaults["thresholds"] = {
            "mode": "absolute",
            "steps": [{"color": colour, "value": value} for colour, value in panel.steps],
        }
    return {
        "id": identifier,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.about,
        "datasource": {"type": "prometheus", "uid": "${datasource}"},
        "gridPos": {"x": x, "y": y, "w": width, "h": height},
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "targets": [
            {
                "refId": chr(ord("A") + index),
                "expr": expression,
                "legendFormat": legend or "__auto",
                "datasource": {"type": "prometheus", "uid": "${datasource}"},
                **({"instant": True, "format": "table"} if panel.kind == "table" else {}),
            }
            for index, (expression, legend) in enumerate(panel.queries)
        ],
    }


def dashboard(name):
    """Grafana's model of a dashboard."""
    title, rows = DASHBOARDS[name]
    panels = []
    y = 0
    for row, members in rows:
        panels.append(
            {
                "id": len(panels) + 1,
                "type": "row",
                "title": row,
                "collapsed": False,
                "panels": [],
                "gridPos": {"x": 0, "y": y, "w": ACROSS, "h": 1},
            }
        )
        y += 1
        numbers = all(panel.kind == "stat" for panel in members)
        columns = len(members) if numbers else min(3, len(members)) if len(members) != 4 else 2
        width, height = ACROSS // columns, 4 if numbers else 8
        for index, panel in enumerate(members):
            panels.append(
                drawn(panel, len(panels) + 1, index % columns * width, y + index // columns * height, width, height)
            )
        y += -(-len(members) // columns) * height
    return {
        "uid": f"millrace-{name}",
        "title": title,
        "tags": ["millrace"],
        "schemaVersion": 39,
        "editable": True,
        "graphTooltip": 1,
        "time": {"from": "now-6h", "to": "now"},
        "refresh": "30s",
        "templating": {
            "list": [{"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Prometheus"}]
        },
        "links": [
            {
                "title": "Millrace",
                "type": "dashboards",
                "tags": ["millrace"],
                "asDropdown": True,
                "includeVars": True,
                "keepTime": True,
            }
        ],
        "panels": panels,
    }


def expressions():
    """(dashboard, panel, expression) of every query."""
    for name, (_, rows) in DASHBOARDS.items():
        for _, panels in rows:
            for panel in panels:
                for expression, _ in panel.queries:
                    yield name, panel.title, expression


def files():
    """The text of each file, by name."""
    return {f"{name}.json": json.dumps(dashboard(name), indent=1, ensure_ascii=False) + "\n" for name in DASHBOARDS}


def write():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    write()
