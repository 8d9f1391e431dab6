"""Tests every alert with promtool: it parses, fires, stays quiet and resolves. It also has a section in the runbook."""

import re
import subprocess
from dataclasses import dataclass

import pytest
import yaml

from chart import ci, manifests, merged
from places import CHART, METRICS_PAGE, ROOT, RUNBOOK


def spec(values=None):
    (rule,) = [one for one in manifests(merged(ci("production"), values or {})) if one["kind"] == "PrometheusRule"]
    return rule["spec"]


SPEC = spec()
RULES = {rule["alert"]: rule for group in SPEC["groups"] for rule in group["rules"]}


@dataclass
class Case:
    """Input series, and the number of firing alerts at points in time."""

    alert: str
    series: dict
    # Minute → number of firing alerts.
    firing: dict
    step: str = "1m"


def refused(reason, status, values):
    return {f'millrace_ingress_refused_total{{version="v2",reason="{reason}",status="{status}",pod="a"}}': values}


def event(worker, name, values):
    return {f'millrace_worker_events_total{{worker="{worker}",event="{name}",pod="a"}}': values}


def budget(turns, waiting):
    labels = '{app="a",environment="Production",endpoint="extend",pod="a"}'
    return {
        f"millrace_api_turns_total{labels}": turns,
        f"millrace_api_budget_per_second{labels}": "10+0x60",
        f"millrace_api_callers_waiting{labels}": waiting,
    }


def lateness(fast, slow):
    name = "millrace_worker_retry_lateness_seconds_bucket"
    return {
        f'{name}{{worker="w",le="5"}}': fast,
        f'{name}{{worker="w",le="10"}}': slow,
        f'{name}{{worker="w",le="+Inf"}}': slow,
    }


POSTGRES_LAG = 'millrace_postgres_lag_records{topic="appstore.subscriptions",pod="a"}'
STALLED = 'millrace_worker_reading_stalled_seconds{worker="w",topic="%s",lane="0",pod="a"}'
TOKENS = 'millrace_kafka_token_fetches_total{outcome="%s",namespace="shop",pod="a"}'
LEAF = "millrace_ingress_apple_certificate_end_seconds"
ACCEPTED = 'millrace_ingress_app_accepted_total{app="a",environment="Production",pod="p"}'

LANES = 'millrace_worker_lanes{worker="refunds",namespace="shop",pod="%s"}'
BEHIND = 'millrace_backfill_behind_seconds{app="a",environment="Production",namespace="shop",pod="p"}'
BEAT = 'millrace_heartbeat_longest_gap_seconds{job="shop-refunds",instance="10.0.0.1:9090"}'
UP = 'up{job="shop-refunds",instance="10.0.0.1:9090"}'

CASES = [
    # All pods and their series are missing from minute 30 to 120.
    Case(
        "MillraceIngressGone",
        {ACCEPTED: "7+0x30 stale", ACCEPTED.replace('"p"', '"q"'): "_x120 0+0x60"},
        {29: 0, 33: 0, 60: 1, 115: 1, 122: 0, 170: 0},
    ),
    # Missing for 13 hours, 60 hours and six days; on the eighth day it counts as removed on purpose.
    Case(
        "MillraceIngressGone",
        {ACCEPTED: "0+2x24 stale"},
        {24 * 60: 0, 37 * 60: 1, 84 * 60: 1, 168 * 60: 1, 200 * 60: 0},
        "1h",
    ),
    # One pod after the other, as in a rollout; and a cluster without an ingress.
    Case(
        "MillraceIngressGone",
        {ACCEPTED: "7+0x30 stale", ACCEPTED.replace('"p"', '"q"'): "_x28 0+0x60"},
        {30: 0, 40: 0, 80: 0},
    ),
    Case("MillraceIngressGone", {LANES % "a": "12+0x60"}, {30: 0}),
    # An ingress in another namespace does not count.
    Case(
        "MillraceIngressGone",
        {
            'millrace_ingress_app_accepted_total{app="a",namespace="a"}': "7+0x30 stale",
            'millrace_ingress_app_accepted_total{app="a",namespace="b"}': "7+0x60",
        },
        {29: 0, 50: 1},
    ),
    Case(
        "MillraceWorkerGone",
        {LANES % "a": "6+0x30 stale", LANES % "b": "6+0x30 stale", LANES % "c": "_x100 12+0x60"},
        {29: 0, 38: 0, 60: 1, 99: 1, 103: 0, 150: 0},
    ),
    Case(
        "MillraceWorkerGone",
        {LANES % "a": "12+0x10 stale"},
        {10 * 60: 0, 13 * 60: 1, 24 * 60: 1, 160 * 60: 1, 190 * 60: 0},
        "1h",
    ),
    # The worker runs without a lane.
    Case("MillraceWorkerGone", {LANES % "a": "12+0x30 0+0x60 12+0x20"}, {29: 0, 60: 1, 95: 0}),
    # Another pod takes the lanes; a spare pod has none; a worker that never had a lane is not missing.
    Case(
        "MillraceWorkerGone",
        {LANES % "a": "12+0x30 stale", LANES % "b": "0+0x31 12+0x60", LANES % "c": "0+0x90"},
        {30: 0, 45: 0, 80: 0},
    ),
    Case("MillraceWorkerGone", {LANES % "a": "0+0x90"}, {60: 0}),
    # A target that does not answer, then answers again.
    Case(
        "MillraceTargetDown",
        {UP: "1+0x30 0+0x60 1+0x30", BEAT: "1+0x30 stale _x59 1+0x30"},
        {29: 0, 40: 0, 60: 1, 90: 1, 110: 0},
    ),
    # A target of another system, and a former target of Millrace.
    Case("MillraceTargetDown", {UP: "0+0x90"}, {60: 0}),
    Case("MillraceTargetDown", {UP: "1+0x30 stale", BEAT: "1+0x30 stale"}, {60: 0}),
    # 60 per minute is one per second; then none.
    Case("MillraceNotificationsRefused", refused("signature", "401", "0+60x30 1800+0x30"), {5: 0, 20: 1, 50: 0}),
    Case("MillraceNotificationsRefused", refused("signature", "401", "0+10x60"), {30: 0, 59: 0}),
    Case("MillraceNotificationsRefused", refused("busy", "503", "0+600x60"), {30: 0}),
    # From no series to one event.
    Case("MillraceUnverifiableChain", refused("chain", "503", "_x10 1+0x50"), {9: 0, 11: 1, 20: 1, 40: 0}),
    Case("MillraceUnverifiableChain", refused("inner-chain", "503", "3+0x20 4+0x40"), {20: 0, 22: 1, 50: 0}),
    Case("MillraceUnverifiableChain", refused("chain", "401", "0+5x60"), {30: 0}),
    Case("MillraceAppNotConfigured", refused("app-not-configured", "503", "_x10 1+0x50"), {9: 0, 11: 1, 40: 0}),
    Case("MillraceAppNotConfigured", refused("environment-not-configured", "401", "_x10 1+0x50"), {11: 1, 40: 0}),
    Case("MillraceAppNotConfigured", refused("wrong-secret", "401", "_x10 1+0x50"), {11: 0}),
    Case("MillraceIngressUnavailable", refused("kafka-unavailable", "503", "0+30x20 600+0x40"), {3: 0, 15: 1, 45: 0}),
    Case("MillraceIngressUnavailable", refused("kafka-unavailable", "503", "0+1x60"), {30: 0}),
    Case("MillraceIngressUnavailable", refused("chain", "503", "0+60x60"), {30: 0}),
    Case(
        "MillraceQuarantineFailed",
        {'millrace_ingress_quarantined_total{outcome="failed",pod="a"}': "_x10 1+0x50"},
        {9: 0, 12: 1, 40: 0},
    ),
    Case("MillraceQuarantineFailed", {'millrace_ingress_quarantined_total{outcome="kept",pod="a"}': "0+9x50"}, {30: 0}),
    # In hours: 30 per day for ten days, none for two days, then traffic again.
    Case(
        "MillraceAppSilent",
        {ACCEPTED: "0+2x240 480+0x48 480+2x48"},
        {200 * 60: 0, 250 * 60: 0, 280 * 60: 1, 300 * 60: 0},
        "1h",
    ),
    # Ten days with traffic, then no ingress for two days. Without an ingress there is no series to compare.
    Case(
        "MillraceAppSilent",
        {ACCEPTED: "0+2x240 stale", ACCEPTED.replace('"p"', '"q"'): "_x300 0+2x48"},
        {240 * 60: 0, 262 * 60: 0, 267 * 60: 1, 300 * 60: 1, 304 * 60: 0, 330 * 60: 0},
        "1h",
    ),
    # Pods are replaced every twelve hours.
    Case(
        "MillraceAppSilent",
        {ACCEPTED.replace('"p"', f'"{pod}"'): f"_x{pod * 12} 0+2x12 stale" for pod in range(20)},
        {200 * 60: 0, 220 * 60: 0, 239 * 60: 0},
        "1h",
    ),
    Case("MillraceAppSilent", {ACCEPTED: "0+0.1x240 24+0x48"}, {280 * 60: 0}, "1h"),
    Case("MillraceAppSilent", {ACCEPTED: "0+0x48"}, {47 * 60: 0}, "1h"),
    # The certificate expires 15 days after the start and is renewed on the fifth day.
    Case(
        "MillraceCertificateEnds",
        {"millrace_ingress_certificate_end_seconds": f"{15 * 86400}+0x120 {100 * 86400}+0x120"},
        {20 * 60: 0, 48 * 60: 1, 130 * 60: 0},
        "1h",
    ),
    Case(
        "MillraceCertificateEnds",
        {"millrace_ingress_certificate_end_seconds": f"{90 * 86400}+0x120"},
        {100 * 60: 0},
        "1h",
    ),
    Case(
        "MillraceAppleLeafNew",
        {f'{LEAF}{{leaf="a"}}': "9+0x600", f'{LEAF}{{leaf="b"}}': "_x200 9+0x400"},
        {190: 0, 210: 1, 300: 0},
    ),
    # The first certificate ever does not fire, nor does one that a restarted process sees again.
    Case("MillraceAppleLeafNew", {f'{LEAF}{{leaf="a"}}': "9+0x600"}, {1: 0, 30: 0, 90: 0}),
    Case(
        "MillraceAppleLeafNew",
        {f'{LEAF}{{leaf="a",pod="x"}}': "9+0x100", f'{LEAF}{{leaf="a",pod="y"}}': "_x150 9+0x100"},
        {160: 0},
    ),
    Case("MillraceLag", {'millrace_worker_lag_seconds{worker="w",lane="0"}': "0+60x20 0+0x20"}, {6: 0, 15: 1, 30: 0}),
    Case("MillraceLag", {'millrace_worker_lag_seconds{worker="w",lane="0"}': "290+0x60"}, {30: 0}),
    # A transaction that is open for 15 minutes; then a retry topic whose records wait in memory, and a busy lane.
    Case("MillraceReadingStalled", {STALLED % "t": "0+0x5 0+60x15 0+0x20"}, {8: 0, 10: 1, 20: 1, 25: 0}),
    Case("MillraceReadingStalled", {STALLED % "millrace.w.retry.1h": "0+60x60"}, {30: 0, 60: 0}),
    Case("MillraceReadingStalled", {STALLED % "t": "0 20 0 60 0 110 0 0 90 0 0 0 60 0 0 0"}, {5: 0, 9: 0, 15: 0}),
    Case(
        "MillraceDeadLetters",
        {'millrace_worker_dead_letters_total{worker="w",reason="r",pod="a"}': "_x10 1+0x50"},
        {9: 0, 11: 1, 40: 0},
    ),
    Case(
        "MillraceDeadLetters",
        {'millrace_worker_dead_letters_total{worker="w",reason="r",pod="a"}': "7+0x60"},
        {20: 0, 50: 0},
    ),
    Case("MillraceRetriesLate", lateness("0+0x60", "0+60x30 1800+0x30"), {5: 0, 25: 1, 55: 0}),
    Case("MillraceRetriesLate", lateness("0+60x60", "0+60x60"), {30: 0}),
    Case(
        "MillraceRecordsLost",
        {'millrace_worker_records_lost_total{worker="w",topic="t",pod="a"}': "_x10 40+0x120"},
        {9: 0, 11: 1, 100: 0},
    ),
    Case(
        "MillraceRecordsLost",
        {'millrace_worker_records_lost_total{worker="w",topic="t",pod="a"}': "40+0x120"},
        {100: 0},
    ),
    Case(
        "MillraceHandlersStuck",
        {'millrace_worker_handlers_stuck{worker="w",pod="a"}': "1+0x20 0+0x20"},
        {5: 0, 15: 1, 30: 0},
    ),
    Case("MillraceHandlersStuck", {'millrace_worker_handlers_stuck{worker="w",pod="a"}': "0+0x60"}, {30: 0}),
    Case(
        "MillraceTimersFailing",
        {'millrace_worker_timers_failing{worker="w",lane="0",pod="a"}': "2+0x40 0+0x40"},
        {20: 0, 35: 1, 60: 0},
    ),
    # A timer that succeeds in one of its first attempts.
    Case(
        "MillraceTimersFailing",
        {'millrace_worker_timers_failing{worker="w",lane="0",pod="a"}': "1+0x11 0+0x60"},
        {5: 0, 40: 0},
    ),
    Case(
        "MillraceEndpointFails",
        {'millrace_http_worker_circuit_open{worker="winback",pod="a"}': "1+0x20 0+0x20"},
        {5: 0, 15: 1, 30: 0},
    ),
    Case("MillraceEndpointFails", {'millrace_http_worker_circuit_open{worker="w",pod="a"}': "0+0x60"}, {30: 0}),
    # The budget is ten per second, 600 per minute.
    Case("MillraceBudgetScarce", budget("0+590x30 17700+0x30", "5+0x60"), {10: 0, 25: 1, 50: 0}),
    Case("MillraceBudgetScarce", budget("0+590x60", "0+0x60"), {40: 0}),
    Case("MillraceBudgetScarce", budget("0+300x60", "5+0x60"), {40: 0}),
    Case(
        "MillraceApplePaused",
        {'millrace_api_paused{app="a",environment="Sandbox",endpoint="e",pod="a"}': "1+0x30 0+0x30"},
        {10: 0, 20: 1, 40: 0},
    ),
    Case(
        "MillraceApplePaused",
        {
            'millrace_api_paused{app="a",environment="Sandbox",endpoint="e",pod="a"}': "1 1 0 0 1 1 0 0 1 1 0 0 1 1 0 0 1 1 0 0 1 1 0 0"
        },
        {20: 0},
    ),
    Case("MillraceConsumptionAtRisk", event("consumption", "consumption.at-risk", "_x10 1+0x50"), {9: 0, 11: 1, 40: 0}),
    Case(
        "MillraceConsumptionAtRisk",
        {'millrace_worker_lag_seconds{worker="consumption",lane="3"}': "15000+0x20 0+0x20"},
        {5: 0, 16: 1, 30: 0},
    ),
    # Refunds of days ago at the first start, which are soon handled.
    Case(
        "MillraceConsumptionAtRisk",
        {'millrace_worker_lag_seconds{worker="consumption",lane="3"}': "_x5 500000+0x10 0+0x20"},
        {8: 0, 15: 0, 25: 0, 34: 0},
    ),
    Case("MillraceConsumptionAtRisk", event("consumption", "consumption.sent", "0+5x60"), {30: 0}),
    Case("MillraceBackfillBehind", {BEHIND: "60+0x30 60+60x89 60+0x30"}, {90: 0, 110: 1, 115: 1, 125: 0}),
    # Missing, then running again and behind the history.
    Case(
        "MillraceBackfillBehind", {BEHIND: "60+0x30 stale _x29 2400+0x10 60+0x20"}, {30: 0, 40: 0, 50: 1, 65: 0, 85: 0}
    ),
    Case("MillraceBackfillBehind", {BEHIND: "60+0x30 stale _x5 60+0x60"}, {33: 0, 60: 0}),
    Case("MillraceBackfillBehind", {BEHIND: "3000+0x60"}, {50: 0}),
    Case("MillracePostgresBehind", {POSTGRES_LAG: "0+0x20 20000+0x40 0+0x20"}, {20: 0, 34: 0, 40: 1, 70: 0}),
    Case("MillracePostgresBehind", {POSTGRES_LAG: "0+0x20 stale _x60"}, {30: 0, 45: 1}),
    Case("MillracePostgresBehind", {POSTGRES_LAG: "9000+0x60"}, {60: 0}),
    # Six failures a minute, then tokens again; and failures between which tokens are fetched.
    Case(
        "MillraceKafkaTokenFailing",
        {TOKENS % "fetched": "1+0x30 2+0x29", TOKENS % "failed": "0+0x9 0+6x20 120+0x29"},
        {8: 0, 15: 1, 28: 1, 45: 0},
    ),
    Case("MillraceKafkaTokenFailing", {TOKENS % "fetched": "1+1x59", TOKENS % "failed": "0+6x59"}, {20: 0, 50: 0}),
    Case(
        "MillraceCampaignDiffers",
        event("renewal-extensions", "campaign.differs", "_x10 1+0x120"),
        {9: 0, 11: 1, 100: 0},
    ),
    Case("MillraceCampaignDiffers", event("renewal-extensions", "campaign.completed", "_x10 1+0x120"), {30: 0}),
]


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    path = tmp_path_factory.mktemp("rules") / "alerts.yaml"
    path.write_text(yaml.safe_dump(SPEC))
    return path


def promtool(*arguments):
    return subprocess.run(["promtool", *arguments], capture_output=True, text=True)


def test_prometheus_accepts_the_rules(rules):
    result = promtool("check", "rules", rules)
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"{len(RULES)} rules found" in result.stdout


@pytest.mark.parametrize("step", ["1m", "1h"])
def test_every_alert_fires_stays_quiet_and_resolves(rules, step):
    tests = [
        {
            "interval": step,
            "input_series": [{"series": name, "values": values} for name, values in case.series.items()],
            "promql_expr_test": [
                {
                    "expr": f'count(ALERTS{{alertname="{case.alert}",alertstate="firing"}})',
                    "eval_time": f"{minute}m",
                    "exp_samples": [{"labels": "{}", "value": count}] if count else [],
                }
                for minute, count in case.firing.items()
            ],
        }
        for case in CASES
        if case.step == step
    ]
    path = rules.parent / "tests.yaml"
    path.write_text(yaml.safe_dump({"rule_files": [rules.name], "evaluation_interval": step, "tests": tests}))
    result = promtool("test", "rules", path)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_alert_has_cases_for_firing_staying_quiet_and_resolving():
    for name in RULES:
        cases = [case for case in CASES if case.alert == name]
        counts = [count for case in cases for _, count in sorted(case.firing.items())]
        assert any(counts), f"{name} never fires"
        assert any(not any(case.firing.values()) for case in cases), f"{name} has no case without an alert"
        assert any([bool(count) for _, count in sorted(case.firing.items())][-2:] == [True, False] for case in cases), (
            f"{name} never resolves"
        )


def test_every_alert_has_a_section_in_the_runbook():
    anchors = {
        re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.+)$", RUNBOOK.read_text(), re.MULTILINE)
    }
    for name, rule in RULES.items():
        url, anchor = rule["annotations"]["runbook_url"].split("#")
        assert url.endswith(str(RUNBOOK.relative_to(ROOT))), name
        assert anchor == name.lower()
        assert anchor in anchors, f"{RUNBOOK.name} has no heading {name}"
    assert {one for one in anchors if one.startswith("millrace")} == {name.lower() for name in RULES}


def test_alerts_use_existing_metrics():
    known = set(re.findall(r"^\| `(\w+)` \|", METRICS_PAGE.read_text(), re.MULTILINE))
    for name, rule in RULES.items():
        for metric in re.findall(r"\bmillrace_\w+", rule["expr"]):
            assert metric.removesuffix("_bucket") in known, f"{name}: {metric}"


def test_every_alert_has_a_severity_and_a_summary():
    for name, rule in RULES.items():
        assert rule["labels"]["severity"] in ("info", "warning", "critical"), name
        assert rule["labels"]["team"] == "payments", "monitoring.prometheusRule.alertLabels"
        assert rule["annotations"]["summary"].endswith("."), name


def test_every_threshold_is_used_and_replaced():
    assert "${" not in yaml.safe_dump(SPEC)
    text = (CHART / "files" / "alerts.yaml").read_text()
    used = set(re.findall(r"\$\{(\w+)\}", text)) - {"runbookURL"}
    stated = yaml.safe_load((CHART / "values.yaml").read_text())["monitoring"]["prometheusRule"]["thresholds"]
    assert used == set(stated)
    changed = spec({"monitoring": {"prometheusRule": {"thresholds": {"lagSeconds": 77}}}})
    assert "> 77" in next(
        rule["expr"] for group in changed["groups"] for rule in group["rules"] if rule["alert"] == "MillraceLag"
    )


def test_an_alert_can_be_disabled():
    changed = spec({"monitoring": {"prometheusRule": {"disabled": ["MillraceLag"]}}})
    assert {rule["alert"] for group in changed["groups"] for rule in group["rules"]} == set(RULES) - {"MillraceLag"}
