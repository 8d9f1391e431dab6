#!/usr/bin/env bash
# Checks the Helm chart, alerts, dashboards, Dockerfile, compose file and systemd units.
# It renders every ci/*-values.yaml for the oldest and newest Kubernetes, compares the result with strict schemas and
# the golden files, tests that invalid values are rejected, and loads every rendered configuration with the real
# programs. It also tests the alerts and their links to the runbook. Needs Python 3 with venv, and PyPI on the first
# run.
#
#   scripts/check chart             exits with 0 if all checks pass
#   scripts/check chart --update    first regenerates values.schema.json, the chart's copy of topics/, the dashboards
#                                   and the golden files. Review the difference before you commit it.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

update=false
case "${1:-}" in
'') ;;
--update) update=true ;;
*) usage "[--update]" ;;
esac

cd "$root"
need_programs
need_packages prometheus # for promtool
python_environment chart

if $update; then
  say "Regenerating derived files"
  rm -rf helm/millrace/files/topics
  mkdir -p helm/millrace/files/topics/workers
  cp topics/*.yaml helm/millrace/files/topics/
  cp topics/workers/*.yaml helm/millrace/files/topics/workers/
  (cd scripts/checks/chart && "$python" -c 'import dashboards, places, schema; dashboards.write(); (places.CHART / "values.schema.json").write_text(schema.rendered())')
  export MILLRACE_UPDATE_GOLDEN=1
fi

say "Checking the chart"
status=0
(cd scripts/checks/chart && MILLRACE_BIN=$bin "$python" -m pytest) || status=1
"$python" -m yamllint --strict --config-file scripts/checks/chart/yamllint.yaml helm/millrace/Chart.yaml \
  helm/millrace/values.yaml helm/millrace/ci topics || status=1
"$python" -m ruff check --quiet --config scripts/checks/chart/ruff.toml scripts/checks/chart || status=1
"$python" -m ruff format --quiet --diff --config scripts/checks/chart/ruff.toml scripts/checks/chart || status=1
exit "$status"
