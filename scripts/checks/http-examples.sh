#!/usr/bin/env bash
# Builds and tests the win-back workers in Python, TypeScript and Java, and sends each of them signed requests.
# The same for the templates of `millrace new consumer --language`.
# A stand-in for millrace-worker posts every kind of request and validates requests and outcomes with the schemas of
# docs/http-workers. Needs Debian's packages of Node and Java, Python 3 with venv, and PyPI.
#
#   scripts/check http-examples [LANGUAGE...]    exits with 0 if all checks pass
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

languages=("$@")
[ ${#languages[@]} -gt 0 ] || languages=(python typescript java)
for language in "${languages[@]}"; do
  case "$language" in
  python | typescript | java) ;;
  *) usage "[python] [typescript] [java]" ;;
  esac
done
cd "$root"
python_environment http
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-http.XXXXXX")
clean_up_at_exit
# shellcheck source=scripts/checks/http/languages.sh
. scripts/checks/http/languages.sh

# try NAME LANGUAGE TESTS... builds and tests the project in $temporary/NAME, starts it and runs TESTS against it.
try() {
  local name=$1 language=$2 server stopped=0
  shift 2
  cd "$temporary/$name"
  "build_$language"
  printf 'whsec_%s\n' "$(head -c 32 /dev/urandom | base64)" >secret
  PORT=$(free_port)
  export PORT WEBHOOK_SECRET_FILE=$PWD/secret
  "run_$language" "$temporary/$name.server.log"
  server=$!
  answering "http://127.0.0.1:$PORT/notifications" "$server" ||
    { cat "$temporary/$name.server.log" >&2; die "the endpoint did not start"; }
  (cd "$root/scripts/checks/http" && "$python" -m pytest "$@" --url "http://127.0.0.1:$PORT/notifications" \
    --secret-file "$WEBHOOK_SECRET_FILE") || { tail -n 40 "$temporary/$name.server.log" >&2; die "$name failed"; }
  stop "$server" || stopped=$?
  # Java reports a signal as 143 even if it has shut down in order.
  [ "$stopped" -eq 0 ] || [ "$stopped" -eq 143 ] || die "the endpoint exited with status $stopped"
  cd "$root"
}

need_packages curl
say "Comparing the templates of millrace new consumer with the examples"
(cd scripts/checks/http && "$python" -m pytest test_templates.py)
for language in "${languages[@]}"; do
  say "The win-back worker in $language: build, tests, signed requests"
  cp -r "examples/$language-worker" "$temporary/$language"
  try "$language" "$language" test_endpoint.py test_winback.py
  say "The template in $language: build, tests, signed requests"
  "$python" scripts/checks/http/templates.py "$language" my-worker "$temporary/$language-template"
  try "$language-template" "$language" test_endpoint.py
done
