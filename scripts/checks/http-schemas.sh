#!/usr/bin/env bash
# Checks the OpenAPI document and the JSON Schemas of HTTP workers in docs/http-workers.
# The document must be valid and agree with the schemas. The samples must be valid, and wrong requests and outcomes must
# be refused. Needs Python 3 with venv, and PyPI on the first run.
#
#   scripts/check http-schemas            exits with 0 if all checks pass
#   scripts/check http-schemas --write    writes the schemas into openapi.yaml
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

write=false
case "${1:-}" in
'') ;;
--write) write=true ;;
*) usage "[--write]" ;;
esac
python_environment http
cd "$root/scripts/checks/http"

if $write; then
  "$python" -c 'import contract; contract.OPENAPI.write_text(contract.rendered())'
  note "wrote docs/http-workers/openapi.yaml"
fi
status=0
"$python" -m pytest test_contract.py || status=1
for folder in . ../consuming ../../scenarios/http-worker; do
  "$python" -m ruff check --quiet --config "$folder/ruff.toml" "$folder" || status=1
  "$python" -m ruff format --quiet --diff --config "$folder/ruff.toml" "$folder" || status=1
done
exit "$status"
