# Shared by the scripts next to it; sourced, not run. Bash, because Debian's and Ubuntu's images have it.
# shellcheck shell=bash
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# One locale everywhere: sorting and pattern matching must not depend on the machine.
export LC_ALL=C.UTF-8

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m'
else
  bold='' dim='' red='' green='' plain=''
fi

say() { printf '%s\n' "${bold}==>${plain} $*"; }
note() { printf '%s\n' "    ${dim}$*${plain}"; }
die() {
  printf '%s\n' "${red}$(basename "$0"): $*${plain}" >&2
  exit 1
}

# What every build needs: headers and libraries that Debian and Ubuntu know by these names.
build_packages=(librdkafka-dev libssl-dev pkg-config)

# need_packages NAME... installs the Debian packages that are missing; says nothing when none is.
need_packages() {
  local package missing=()
  if ! command -v dpkg-query >/dev/null; then
    note "no dpkg here: these must be installed already: $*"
    return
  fi
  for package in "$@"; do
    [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "missing: ${missing[*]}; install them as root: apt-get install ${missing[*]}"
    sudo=(sudo)
  fi
  say "Installing ${missing[*]} with apt-get${sudo[0]:+, through sudo}"
  local log
  log=$(mktemp)
  if ! { apt_get install "${missing[@]}" || { apt_get update && apt_get install "${missing[@]}"; }; } >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    die "apt-get could not install ${missing[*]}"
  fi
  rm -f "$log"
}

# apt_get COMMAND NAME... without questions. Uses need_packages' `sudo`.
apt_get() {
  local command=$1
  shift
  local options=(-q)
  [ "$command" = update ] || options+=(-y --no-install-recommends)
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" "$command" "$@"
}

# without_progress passes on what a build says but for its progress, which is for terminals: a log wants what went
# wrong and the last line.
without_progress() {
  grep -vE '^\[[0-9]+/[0-9]+\]|^(Fetch|Comput|Creat|Work|Updat|Clon)|which are unhandled|^ .*/checkouts/' || [ $? -eq 1 ]
}

need_swift() {
  command -v swift >/dev/null || die "no Swift toolchain on PATH; get 6.3 or later from https://swift.org/install"
}

# Processes this script started, by id; stopped when it ends, however it ends.
children=()
temporary=''

# start LOG COMMAND... runs a process in the background; its id is $!.
start() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 &
  children+=($!)
}

# stop PID asks a child to end and waits for it; gives its status.
stop() {
  kill -TERM "$1" 2>/dev/null || true
  wait "$1" 2>/dev/null
}

cleanup() {
  local status=$? index
  trap - EXIT INT TERM
  # The last started first: readers before the cluster they read from.
  for ((index = ${#children[@]} - 1; index >= 0; index--)); do stop "${children[index]}" || true; done
  [ -z "$temporary" ] || rm -rf "$temporary"
  exit "$status"
}
clean_up_at_exit() {
  trap cleanup EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

# wait_for_file FILE PID SECONDS waits until a child has written a file.
wait_for_file() {
  local tries=$(($3 * 20))
  until [ -s "$1" ]; do
    kill -0 "$2" 2>/dev/null || return 1
    [ $((tries--)) -gt 0 ] || return 1
    sleep 0.05
  done
}

# free_port prints a port that nobody listens on; whoever takes it says at once when that has changed.
free_port() {
  local port
  for port in $(shuf -i 20000-29999 -n 50); do
    (: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
  die "no free port"
}

# chart_python makes the Python environment of scripts/chart and sets `python`.
chart_python() {
  # Debian has venv in a package of its own.
  python3 -c "import ensurepip, venv" 2>/dev/null || need_packages python3 python3-venv
  local venv=$root/.build/chart requirements=$root/scripts/chart/requirements.txt
  if ! cmp -s "$requirements" "$venv/installed.txt"; then
    say "Installing what checks charts, rules and images, from PyPI"
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
    cp "$requirements" "$venv/installed.txt"
  fi
  python=$venv/bin/python
  export PYTHONDONTWRITEBYTECODE=1
}
