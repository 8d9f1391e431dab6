# Builds and runs workers in Python, TypeScript, Java and Swift, for the scripts of scripts/checks that source this file.
# Every function except node_types runs in the directory of a project. They need $temporary and $python.
# shellcheck shell=bash

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

# Within scripts/test the example is built and tested as a target of Millrace's package. Alone, as a package: it builds into
# .build/swift-worker, because it has fewer dependencies than Millrace: in .build, the package manager would delete the others.
build_swift() {
  swift_worker=$root/.build/debug/Worker
  [ -z "${PROGRAMS_ARE_BUILT:-}" ] || return 0
  # The versions that Millrace is built with, if they are known.
  [ ! -f "$root/Package.resolved" ] || cp "$root/Package.resolved" .
  export SWIFTPM_BUILD_DIR=$root/.build/swift-worker
  quiet swift-build swift build --build-tests
  swift test --skip-build >"$temporary/swift-test.log" 2>&1 || { cat "$temporary/swift-test.log" >&2; die "the tests failed"; }
  grep -hoE 'Test run with [0-9]+ tests? .*' "$temporary/swift-test.log" || die "no test ran"
  swift_worker=$(swift build --show-bin-path)/Worker
  unset SWIFTPM_BUILD_DIR
}
run_swift() { start "$1" "$swift_worker"; }

# copy_example LANGUAGE copies an example without what was built in it to $temporary/LANGUAGE.
copy_example() {
  mkdir "$temporary/$1"
  tar -C "$root/examples/$1-worker" -c --exclude={.build,.venv,build,node_modules} . | tar -C "$temporary/$1" -x
}

# answering URL PID waits until a process answers.
answering() {
  local tries=300
  until curl --silent --output /dev/null "$1"; do
    kill -0 "$2" 2>/dev/null || return 1
    [ $((tries--)) -gt 0 ] || return 1
    sleep 0.1
  done
}
