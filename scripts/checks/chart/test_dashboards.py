"""Every dashboard expression parses and uses only metrics and labels of docs/metrics.md."""

import json
import re

import promql_parser
import pytest

import dashboards
from chart import ci, manifests
from places import METRICS_PAGE

# Labels that Prometheus adds.
FROM_PROMETHEUS = {"instance", "le"}


def known():
    """The kind, labels and section of each metric, by name."""
    section = ""
    metrics = {}
    for line in METRICS_PAGE.read_text().splitlines():
        if heading := re.match(r"## (.+)", line):
            section = heading[1]
        elif row := re.match(r"\| `(\w+)` \| (\w+) \| ([^|]*)\|", line):
            everywhere = {"Workers": {"worker"}, "Apple's budgets": {"app", "environment", "endpoint"}}.get(
                section, set()
            )
            metrics[row[1]] = (row[2], everywhere | set(re.findall(r"`(\w+)`", row[3])), section)
    return metrics


METRICS = known()
EXPRESSIONS = list(dashboards.expressions())


def selectors(node):
    """(metric, labels of its matchers) of every selector in an expression."""
    for name, matchers in re.findall(r"\b((?:millrace|process)_\w+)(?:\{([^}]*)\})?", node):
        yield name, set(re.findall(r"(\w+)\s*[=!]~?", matchers))


@pytest.mark.parametrize(("name", "panel", "expression"), EXPRESSIONS)
def test_an_expression_parses_and_uses_existing_metrics(name, panel, expression):
    promql_parser.parse(expression)
    found = list(selectors(expression))
    assert found
    labels = set(FROM_PROMETHEUS)
    for metric, matched in found:
        base = metric.removesuffix("_bucket")
        assert base in METRICS, metric
        kind, own, _ = METRICS[base]
        assert (kind == "histogram") == metric.endswith("_bucket"), metric
        assert matched <= own, f"{metric} has no label {matched - own}"
        if kind == "counter":
            assert re.search(rf"(rate|increase)\({metric}", expression), f"{metric} is a counter"
        labels |= own
    for by in re.findall(r"by \(([^)]*)\)", expression):
        assert set(re.split(r",\s*", by)) <= labels, by


def test_the_parser_rejects_invalid_expressions():
    with pytest.raises(ValueError):
        promql_parser.parse("sum by (type (rate(millrace_ingress_accepted_total[5m]))")


def test_every_legend_uses_labels_of_its_series():
    for _, (_, rows) in dashboards.DASHBOARDS.items():
        for panel in (panel for _, panels in rows for panel in panels):
            for expression, legend in panel.queries:
                named = set(re.findall(r"\{\{(\w+)\}\}", legend))
                grouped = {label for by in re.findall(r"by \(([^)]*)\)", expression) for label in re.split(r",\s*", by)}
                assert named <= (grouped or FROM_PROMETHEUS), panel.title


def test_the_files_are_up_to_date():
    made = dashboards.files()
    assert {path.name for path in dashboards.FOLDER.glob("*.json")} == set(made)
    for name, text in made.items():
        assert (dashboards.FOLDER / name).read_text() == text, "run scripts/check chart --update"


def test_no_panel_overlaps_another_or_exceeds_the_width():
    for name in dashboards.DASHBOARDS:
        taken = set()
        panels = json.loads((dashboards.FOLDER / f"{name}.json").read_text())["panels"]
        assert len({panel["id"] for panel in panels}) == len(panels)
        for panel in panels:
            place = panel["gridPos"]
            assert place["x"] + place["w"] <= dashboards.ACROSS
            cells = {
                (x, y)
                for x in range(place["x"], place["x"] + place["w"])
                for y in range(place["y"], place["y"] + place["h"])
            }
            assert not cells & taken, f"{name}: {panel['title']}"
            taken |= cells


def test_the_chart_ships_every_dashboard_with_grafanas_label():
    found = [one for one in manifests(ci("production")) if "dashboard" in one["metadata"]["name"]]
    assert len(found) == len(dashboards.DASHBOARDS)
    for one in found:
        assert one["metadata"]["labels"]["grafana_dashboard"] == "1"
        ((_, text),) = one["data"].items()
        assert json.loads(text)["uid"].startswith("millrace-")


def test_every_metric_is_on_a_dashboard_unless_listed_here():
    shown = {metric.removesuffix("_bucket") for _, _, expression in EXPRESSIONS for metric, _ in selectors(expression)}
    beside = {
        "millrace_kafka_queued_bytes",  # Follows millrace_kafka_queued_messages.
        "millrace_worker_unread_records",  # Included in millrace_worker_lag_records.
        "millrace_worker_producer_replacements_total",  # Each is mended without a rejoin; rejoins are shown.
        "millrace_worker_reading_stalled_seconds",  # 0 unless MillraceReadingStalled fires.
        "millrace_worker_deadlines_endangered_total",  # Only for workers whose records have deadlines.
        "millrace_metrics_conflicts_total",  # Reports a mistake in a consumer's code.
    }
    about = {"Workers", "Apple's budgets", "The ingress", "Every process"}
    assert {name for name, (_, _, section) in METRICS.items() if section in about} - shown == beside
