"""Checks dashboards and alerts against a running Prometheus, for scripts/check watch.

usage: watch.py rules FILE               writes the rendered alerting rules
       watch.py check URL SECONDS        waits until all dashboard queries have series and the expected alerts fire
       watch.py picture URL FILE         draws some panels
"""

import json
import math
import pathlib
import sys
import time
import urllib.parse
import urllib.request

import dashboards

# Alerts that the load causes: forged chains, an app that is not configured, a receiver that rejects notifications.
EXPECTED = {"MillraceUnverifiableChain", "MillraceAppNotConfigured", "MillraceDeadLetters"}

PICTURE = [
    ("overview", "Accepted by type"),
    ("ingress", "Rejected by reason"),
    ("ingress", "Response time"),
    ("workers", "Handler duration"),
    ("workers", "Delayed records by reason"),
    ("apple-budget", "Calls"),
]


def get(url, path, **parameters):
    with urllib.request.urlopen(f"{url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=10) as answer:
        return json.load(answer)["data"]


def values(url, expression):
    """The current values of an expression, without NaN."""
    found = [float(series["value"][1]) for series in get(url, "query", query=expression)["result"]]
    return [value for value in found if not math.isnan(value)]


def write_rules(path):
    from test_alerts import SPEC

    with open(path, "w") as file:
        json.dump(SPEC, file)


def look(url, waiting, firing, counts):
    """Returns what is missing, one line each. Earlier misses do not count, because a single scrape may be late."""
    firing |= {alert["labels"]["alertname"] for alert in get(url, "alerts")["alerts"] if alert["state"] == "firing"}
    for query in waiting:
        counts[query] = len(values(url, query[2]))
    # A query that has had series once needs no further check.
    waiting[:] = [query for query in waiting if not counts.get(query)]
    rules = [rule for group in get(url, "rules")["groups"] for rule in group["rules"]]
    targets = get(url, "targets")["activeTargets"]
    counts["alerts"], counts["targets"] = len(rules), len(targets)
    return [
        *(f"no series: {name}, {panel}: {expression}" for name, panel, expression in waiting),
        *(f"{rule['name']}: {rule.get('lastError', rule['health'])}" for rule in rules if rule["health"] != "ok"),
        *(f"not scraped: {t['scrapeUrl']}: {t.get('lastError')}" for t in targets if t["health"] != "up"),
        *(f"does not fire: {alert}" for alert in sorted(EXPECTED - firing)),
    ]


def check(url, seconds):
    """Polls until nothing is missing or the time is over, while the load continues."""
    waiting = list(dashboards.expressions())
    expected = len(waiting)
    firing = set()
    counts = {}
    missing = [f"{url} did not answer"]
    end = time.monotonic() + seconds
    while missing and time.monotonic() < end:
        time.sleep(1)
        try:
            missing = look(url, waiting, firing, counts)
        except OSError as error:
            missing = [f"{url}: {error}"]
    if missing:
        print("\n".join(missing), file=sys.stderr)
        return False
    alerts, targets = counts.pop("alerts"), counts.pop("targets")
    print(
        f"    {expected} expressions of {len(dashboards.DASHBOARDS)} dashboards have series ({sum(counts.values())});"
        f" {alerts} alerts evaluate; {targets} processes scraped; firing: {', '.join(sorted(firing))}"
    )
    return True


def picture(url, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams.update({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False})
    figure, axes = pyplot.subplots(3, 2, figsize=(11, 8.2), dpi=110)
    end = time.time()
    for axis, (name, title) in zip(axes.flat, PICTURE, strict=True):
        panel = next(panel for _, row in dashboards.DASHBOARDS[name][1] for panel in row if panel.title == title)
        for expression, legend in panel.queries:
            # The dashboards use a range of five minutes. One minute of load would show only a slope.
            expression = expression.replace("[5m]", "[10s]")
            for series in get(url, "query_range", query=expression, start=end - 60, end=end, step=1)["result"]:
                label = legend
                for key, value in series["metric"].items():
                    label = label.replace(f"{{{{{key}}}}}", value)
                points = [(float(at) - end + 60, float(value)) for at, value in series["values"]]
                axis.plot(*zip(*points, strict=True), linewidth=1.2, label=label)
        axis.set_title(
            f"{title} ({ {'reqps': 'per second', 'ops': 'per second', 's': 'seconds'}[panel.unit] })",
            loc="left",
            weight="bold",
        )
        # Space for the legend.
        axis.set_ylim(0, axis.get_ylim()[1] * 1.4)
        axis.set_xlabel("seconds")
        axis.grid(alpha=0.25)
        axis.legend(fontsize=6, loc="upper left", ncols=2, frameon=False)
    figure.text(
        0.01,
        0.004,
        "The clock runs sixty times as fast, and durations with it: six seconds here are 100 ms.",
    )
    figure.tight_layout(rect=(0, 0.02, 1, 1))
    pathlib.Path(path).parent.mkdir(exist_ok=True)
    figure.savefig(path)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["rules", path]:
            write_rules(path)
        case ["check", url, seconds]:
            sys.exit(0 if check(url, float(seconds)) else 1)
        case ["picture", url, path]:
            picture(url, path)
        case _:
            sys.exit(__doc__)
