"""Makes the Grafana dashboards, helm/millrace/files/dashboards/*.json: each a list of rows, each a list of panels."""

import json
from dataclasses import dataclass, field

from places import CHART

FOLDER = CHART / "files" / "dashboards"
ACROSS = 24


@dataclass
class Panel:
    """One figure: queries with what their series are called."""

    title: str
    queries: list
    unit: str = "short"
    about: str = ""
    kind: str = "timeseries"
    # (value, colour) from which a single figure is coloured.
    steps: list = field(default_factory=list)


def number(title, query, unit="short", about="", bad=None):
    """A single figure; `bad` is from where it is red."""
    steps = [("green", None)] + ([("red", bad)] if bad is not None else [])
    return Panel(title, [(query, "")], unit, about, "stat", steps)


RATE = "[5m]"
ACCEPTED = f"rate(millrace_ingress_accepted_total{RATE})"
REFUSED = f"rate(millrace_ingress_refused_total{RATE})"


def quantiles(metric, by="", is_rare=False):
    """The middle, and what one in a hundred exceeds; of what is rare, of all since the process began."""
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
                    number("Accepted a second", f"sum({ACCEPTED})", "reqps", "Answered 200: Kafka has them."),
                    number(
                        "Refused a second", f"sum({REFUSED}) or vector(0)", "reqps", "Anybody can post; see Ingress."
                    ),
                    number(
                        "Answered 503 a second",
                        f'sum(rate(millrace_ingress_refused_total{{status="503"}}{RATE})) or vector(0)',
                        "reqps",
                        "Apple sends these again, in Sandbox never.",
                        0.05,
                    ),
                    number(
                        "Oldest unfinished record",
                        "max(millrace_worker_lag_seconds)",
                        "s",
                        "Over all lanes of all workers.",
                        300,
                    ),
                    number(
                        "Dead letters in a day",
                        "sum(increase(millrace_worker_dead_letters_total[1d])) or vector(0)",
                        about="What workers gave up.",
                        bad=1,
                    ),
                    number(
                        "Brokers connected, fewest",
                        "min(millrace_kafka_brokers_up)",
                        about="Of any client; 0 is nobody.",
                    ),
                ],
            ),
            (
                "What flows",
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
                        "Records that ended, by worker and how",
                        [
                            (
                                f"sum by (worker, outcome) (rate(millrace_worker_records_total{RATE}))",
                                "{{worker}} {{outcome}}",
                            )
                        ],
                        "ops",
                    ),
                    Panel(
                        "Events emitted",
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
                        "Longest gap between two beats",
                        [("millrace_heartbeat_longest_gap_seconds", "{{instance}}")],
                        "s",
                        "A task beats every second; /livez fails at 15 s.",
                    ),
                    Panel(
                        "Threads and open files",
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
                    Panel("Answered 200, by version", [(f"sum by (version) ({ACCEPTED})", "{{version}}")], "reqps"),
                    Panel(
                        "Refused, by reason",
                        [(f"sum by (reason, status) ({REFUSED})", "{{status}} {{reason}}")],
                        "reqps",
                        "docs/ingress.md says what each means.",
                    ),
                    Panel(
                        "Head to answer",
                        quantiles("millrace_ingress_request_duration_seconds"),
                        "s",
                        "Apple waits some seconds.",
                    ),
                    Panel("Kafka's part of it", quantiles("millrace_ingress_acknowledgement_duration_seconds"), "s"),
                ],
            ),
            (
                "Load",
                [
                    Panel(
                        "Requests in flight",
                        [("sum by (instance) (millrace_ingress_requests_in_flight)", "{{instance}}")],
                        about="Beyond ingress.maxRequestsInFlight: 503 busy.",
                    ),
                    Panel(
                        "Slow clients",
                        [(f"sum by (part) (rate(millrace_ingress_slow_clients_total{RATE})) or vector(0)", "{{part}}")],
                        "ops",
                        "Connections closed because a head or body took too long.",
                    ),
                    Panel(
                        "Copied to quarantine",
                        [(f"sum by (outcome) (rate(millrace_ingress_quarantined_total{RATE}))", "{{outcome}}")],
                        "ops",
                    ),
                    Panel(
                        "Waiting for a broker",
                        [("sum by (instance, client) (millrace_kafka_queued_messages)", "{{instance}} {{client}}")],
                    ),
                ],
            ),
            (
                "Certificates",
                [
                    Panel(
                        "Apple's signing certificates end",
                        [("max by (leaf) (millrace_ingress_apple_certificate_end_seconds) * 1000", "{{leaf}}")],
                        "dateTimeAsIso",
                        kind="table",
                    ),
                    number(
                        "Own certificate ends in",
                        "min(millrace_ingress_certificate_end_seconds) - time()",
                        "s",
                        "Where the ingress terminates TLS.",
                    ),
                    Panel(
                        "Kafka's errors",
                        [
                            (
                                f"sum by (client, code) (rate(millrace_kafka_errors_total{RATE})) or vector(0)",
                                "{{client}} {{code}}",
                            )
                        ],
                        "ops",
                    ),
                ],
            ),
        ],
    ),
    "workers": (
        "Millrace: workers",
        [
            (
                "Behind",
                [
                    Panel(
                        "Oldest unfinished record",
                        [("max by (worker) (millrace_worker_lag_seconds)", "{{worker}}")],
                        "s",
                    ),
                    Panel(
                        "Records not taken yet",
                        [("sum by (worker, topic) (millrace_worker_lag_records)", "{{worker}} {{topic}}")],
                    ),
                    Panel("In flight", [("sum by (worker) (millrace_worker_records_in_flight)", "{{worker}}")]),
                ],
            ),
            (
                "Outcomes",
                [
                    Panel(
                        "By type",
                        [
                            (
                                f"sum by (worker, type, outcome) (rate(millrace_worker_records_total{RATE}))",
                                "{{worker}} {{type}} {{outcome}}",
                            )
                        ],
                        "ops",
                    ),
                    Panel("One run of a handler", quantiles("millrace_worker_handler_duration_seconds", "worker"), "s"),
                    Panel(
                        "Parked, by reason",
                        [
                            (
                                f"sum by (worker, reason) (rate(millrace_worker_retries_total{RATE}))",
                                "{{worker}} {{reason}}",
                            )
                        ],
                        "ops",
                    ),
                    Panel(
                        "Retries start late",
                        quantiles("millrace_worker_retry_lateness_seconds", "worker"),
                        "s",
                        "From due to the handler's start.",
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
                    number("Handlers that ignore their limit", "sum(millrace_worker_handlers_stuck)", bad=1),
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
                        "Lanes that came or went",
                        [
                            (
                                "sum by (worker, kind) (increase(millrace_worker_rebalances_total[15m]))",
                                "{{worker}} {{kind}}",
                            )
                        ],
                        about="`lost`: a member was silent for longer than its session.",
                    ),
                    Panel(
                        "Notifications remembered", [("sum by (worker) (millrace_worker_ledger_entries)", "{{worker}}")]
                    ),
                    Panel(
                        "Time to restore a lane's ledger",
                        quantiles("millrace_worker_ledger_restore_duration_seconds", "worker", is_rare=True),
                        "s",
                    ),
                    Panel("One commit", quantiles("millrace_worker_commit_duration_seconds", "worker"), "s"),
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
                        "Records deleted before they were read",
                        "sum(increase(millrace_worker_records_lost_total[1d])) or vector(0)",
                        bad=1,
                    ),
                    number(
                        "Records of others nobody can read",
                        "sum(increase(millrace_worker_unreadable_records_total[1d])) or vector(0)",
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
                        "Apple counts by app, environment and endpoint.",
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
                        "Follows the lanes that are owned; appStore.share is taken off.",
                    ),
                ],
            ),
            (
                "Waiting",
                [
                    Panel(
                        "Callers that wait for their turn",
                        [
                            (
                                "sum by (endpoint, environment) (millrace_api_callers_waiting)",
                                "{{endpoint}} {{environment}}",
                            )
                        ],
                    ),
                    Panel(
                        "Apple said 429",
                        [
                            (
                                "max by (app, environment, endpoint) (millrace_api_paused)",
                                "{{endpoint}} {{app}} {{environment}}",
                            )
                        ],
                        about="1 until the time that Apple named is over.",
                    ),
                    Panel(
                        "Records parked for Apple",
                        [
                            (
                                f'sum by (worker, tier) (rate(millrace_worker_retries_total{{reason="waits-for-apple"}}{RATE})) or vector(0)',
                                "{{worker}} {{tier}}",
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
                "Since a day",
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
                        "Nobody can tell",
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
                "How it goes",
                [
                    Panel(
                        "What Apple told",
                        [
                            (
                                f'sum by (type) (rate(millrace_ingress_accepted_total{{type=~"RENEWAL_EXTENDED|RENEWAL_EXTENSION"}}{RATE}))',
                                "{{type}}",
                            )
                        ],
                        "reqps",
                    ),
                    Panel(
                        "What became of failures",
                        [
                            (
                                f'sum by (event) (rate(millrace_worker_events_total{{worker="renewal-extensions"}}{RATE}))',
                                "{{event}}",
                            )
                        ],
                        "ops",
                    ),
                    Panel(
                        "Records that ended",
                        [
                            (
                                f'sum by (outcome) (rate(millrace_worker_records_total{{worker="renewal-extensions"}}{RATE}))',
                                "{{outcome}}",
                            )
                        ],
                        "ops",
                    ),
                    Panel(
                        "Oldest failure that waits",
                        [('max by (lane) (millrace_worker_lag_seconds{worker="renewal-extensions"})', "lane {{lane}}")],
                        "s",
                    ),
                    Panel(
                        "Share of Apple's limit for extensions",
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
                        "Failures that wait, by reason",
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
}


def drawn(panel, identifier, x, y, width, height):
    """A panel as Grafana keeps it."""
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
    """A dashboard as Grafana imports it."""
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
    """(dashboard, panel, expression) of everything that is asked of Prometheus."""
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
