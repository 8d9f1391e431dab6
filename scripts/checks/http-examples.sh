#!/usr/bin/env bash
# Builds and tests the win-back workers in Python, TypeScript, Java and Swift, and sends each of them signed requests.
# The same for the templates of `millrace new consumer --language`, which has no template of an endpoint in Swift.
# A stand-in for millrace-worker posts every kind of request and validates requests and outcomes with the schemas of
# docs/http-workers. Needs Debian's packages of Node and Java, a Swift toolchain, Python 3 with venv, and PyPI. The first
# build in Swift takes minutes.
#
#   scripts/check http-examples [LANGUAGE...]    exits with 0 if all checks pass
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

languages=("$@")
[ ${#languages[@]} -gt 0 ] || languages=(python typescript java swift)
for language in "${languages[@]}"; do
  case "$language" in
  python | typescript | java | swift) ;;
  *) usage "[python] [typescript] [java] [swift]" ;;
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
  copy_example "$language"
  try "$language" "$language" test_endpoint.py test_winback.py
  [ "$language" != swift ] || continue
  say "The template in $language: build, tests, signed requests"
  "$python" scripts/checks/http/templates.py "$language" my-worker "$temporary/$language-template"
  try "$language-template" "$language" test_endpoint.py
done
