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

# node_types DIR puts the types of Node's standard library into DIR/node_modules. They are part of Debian's Node, which is
# not installed if Node comes from elsewhere.
node_types() {
  local from=$1/debian
  mkdir -p "$1/node_modules/@types" "$from"
  if [ -d /usr/share/nodejs/@types/node ]; then
    from=/
  else
    local version
    version=$(apt-cache madison nodejs | awk '{ print $3; exit }')
    [ -n "$version" ] || die "apt has no package nodejs"
    (cd "$from" && apt-get download -q "nodejs=$version" >download.log 2>&1 || { cat download.log >&2; exit 1; })
    dpkg-deb --extract "$from"/nodejs_*.deb "$from"
  fi
  # Copies, because the compiler looks for `undici-types`, which the types of Node import, beside their real path.
  cp -r "$from/usr/share/nodejs/@types/node" "$1/node_modules/@types/"
  cp -r /usr/share/nodejs/undici-types "$1/node_modules/"
}

# quiet NAME COMMAND... runs a command and prints its output only if it fails.
quiet() {
  local log=$temporary/$1.log
  shift
  "$@" >"$log" 2>&1 || { cat "$log" >&2; die "failed: $*"; }
}

build_python() {
  python3 -m venv .venv
  quiet pip .venv/bin/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
  .venv/bin/pytest -q -p no:cacheprovider
  "$python" -m ruff check --quiet --config "$root/scripts/checks/http/ruff.toml" .
  "$python" -m ruff format --quiet --diff --config "$root/scripts/checks/http/ruff.toml" .
}
run_python() { start "$1" .venv/bin/uvicorn server:app --host 127.0.0.1 --port "$PORT" --no-access-log; }

build_typescript() {
  command -v node >/dev/null || need_packages nodejs
  need_packages node-typescript node-undici
  [ -d "$temporary/types" ] || node_types "$temporary/types"
  ln -s "$temporary/types/node_modules" node_modules
  tsc --project .
  node --test build/test/*.test.js >"$temporary/node.log" || { cat "$temporary/node.log" >&2; die "the tests failed"; }
  grep -E '^(#|ℹ) (tests|pass|fail) ' "$temporary/node.log"
}
run_typescript() { start "$1" node build/source/main.js; }

build_java() {
  need_packages openjdk-17-jdk-headless libjackson2-databind-java junit4 make
  make --silent test | tail -n 3
}
run_java() { start "$1" java -cp "build/main:$(make --silent libraries)" worker.Server; }

# answering URL PID waits until a process answers.
answering() {
  local tries=300
  until curl --silent --output /dev/null "$1"; do
    kill -0 "$2" 2>/dev/null || return 1
    [ $((tries--)) -gt 0 ] || return 1
    sleep 0.1
  done
}

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
