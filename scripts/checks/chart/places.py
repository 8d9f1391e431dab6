"""Paths and versions."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
CHART = ROOT / "helm" / "millrace"
GOLDEN = ROOT / "helm" / "golden"
CONFIGURATION_PAGE = ROOT / "docs" / "configuration.md"
TOPICS = ROOT / "topics"
# The oldest supported Kubernetes, and the newest with published schemas.
OLDEST, NEWEST = "1.30.0", "1.37.0"
METRICS_PAGE = ROOT / "docs" / "metrics.md"
RUNBOOK = ROOT / "docs" / "runbook.md"
