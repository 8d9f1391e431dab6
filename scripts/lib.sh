# Functions of the other scripts, which source this file.
# shellcheck shell=bash
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Sorting and pattern matching must not depend on the machine's locale.
export LC_ALL=C.UTF-8
# Commands that change something need the operator's name, and a container has none.
export USER=${USER:-$(id -un)}

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m'
else
  bold='' dim='' red='' green='' plain=''
fi

# The command that runs this script: `scripts/check console` for scripts/checks/console.sh.
command_name=${0##*/}
command_name=${command_name%.sh}
case "$0" in
*/checks/"${0##*/}") command_name="scripts/check $command_name" ;;
*/scenarios/"${0##*/}") command_name="scripts/scenario $command_name" ;;
*/benchmarks/"${0##*/}") command_name="scripts/bench $command_name" ;;
*) command_name=scripts/$command_name ;;
esac

say() { printf '%s\n' "${bold}==>${plain} $*"; }
note() { printf '%s\n' "    ${dim}$*${plain}"; }
die() {
  printf '%s\n' "${red}$command_name: $*${plain}" >&2
  exit 1
}

# usage OPTIONS reports wrong arguments of this script.
usage() {
  printf '%s\n' "${red}usage: $command_name${1:+ $1}${plain}" >&2
  exit 2
}

# header FILE prints the comment at the top of a script. Its first line is the summary of the script.
header() { awk 'NR == 1 { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "$1"; }

# dispatch FOLDER NAME OPTION... runs scripts/FOLDER/NAME.sh. Without a name it prints the caller's header and all names.
dispatch() {
  local folder=$root/scripts/$1 name=${2:-} file names=()
  for file in "$folder"/*.sh; do names+=("$(basename "$file" .sh)"); done
  case "$name" in
  '' | -h | --help)
    header "$0"
    printf '\n'
    for name in "${names[@]}"; do printf '  %-16s  %s\n' "$name" "$(header "$folder/$name.sh" | sed -n 1p)"; done
    exit
    ;;
  esac
  if [[ $name == */* ]] || [ ! -f "$folder/$name.sh" ]; then
    printf '%s\n' "${red}$command_name: unknown name $name; the names are: ${names[*]}${plain}" >&2
    exit 2
  fi
  case "${3:-}" in
  -h | --help) header "$folder/$name.sh" ;;
  *) exec "$folder/$name.sh" "${@:3}" ;;
  esac
}

# The Debian and Ubuntu packages that every build needs.
build_packages=(librdkafka-dev libssl-dev libpq-dev pkg-config)

# need_packages NAME... installs missing Debian packages. It prints nothing if all are installed.
need_packages() {
  local package missing=()
  if ! command -v dpkg-query >/dev/null; then
    note "dpkg is not available; make sure that these packages are installed: $*"
    return
  fi
  for package in "$@"; do
    [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "missing packages: ${missing[*]}; install them as root: apt-get install ${missing[*]}"
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

# apt_get COMMAND NAME... runs apt-get without prompts, with need_packages' `sudo`.
apt_get() {
  local command=$1
  shift
  # Another script may be installing at the same time.
  local options=(-q -o DPkg::Lock::Timeout=300)
  [ "$command" = update ] || options+=(-y --no-install-recommends)
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" "$command" "$@"
}

# without_progress removes progress lines from a build's output, for logs.
without_progress() {
  grep -vE '^\[[0-9]+/[0-9]+\]|^(Fetch|Comput|Creat|Work|Updat|Clon)|which are unhandled|^ .*/checkouts/' || [ $? -eq 1 ]
}

need_swift() {
  command -v swift >/dev/null || die "no Swift toolchain on PATH; get 6.3 or later from https://swift.org/install"
}

# build_programs NAME... builds programs and sets `bin` to their directory. scripts/test sets PROGRAMS_ARE_BUILT after it has
# built all of them.
build_programs() {
  local name
  if [ -z "${PROGRAMS_ARE_BUILT:-}" ]; then
    say "Building (the first time takes minutes)"
    for name in "$@"; do swift build --quiet --product "$name"; done
  fi
  need_programs
}

# build_release builds the programs in release mode and sets `bin`. One build serves all benchmarks.
build_release() {
  say "Building in release mode (the first time takes minutes)"
  swift build --quiet --package-path Benchmarks --configuration release --product bench
  # shellcheck disable=SC2034 # its callers read it
  bin=$root/Benchmarks/.build/release
  # For `scripts/kafka`: Kafka as it is deployed.
  export KAFKA_JVM_PERFORMANCE_OPTS='-server -XX:+UseG1GC'
}

# need_programs sets `bin` to the directory of the programs, which must have been built.
need_programs() {
  [ -d "$root/.build/debug" ] || die "build first: swift build"
  # `find` does not follow the symbolic link.
  bin=$(realpath "$root/.build/debug")
}

# The ids of processes that this script started. cleanup stops them.
children=()
temporary=''

# start LOG COMMAND... runs a process in the background and sets $! to its id.
start() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 &
  children+=($!)
}

# stop PID sends SIGTERM to a child, or with -PID to its process group, and returns its exit status.
stop() {
  kill -TERM -- "$1" 2>/dev/null || true
  wait "${1#-}" 2>/dev/null
}

# Whether this script deletes the topics with the prefix KAFKA_TEST_PREFIX on a real cluster.
owns_topics=false

delete_topics() {
  local scenarios=$root/.build/debug/millrace-scenarios
  { $owns_topics && [ -n "${KAFKA_BOOTSTRAP_SERVERS:-}" ] && [ -x "$scenarios" ]; } || return 0
  "$scenarios" demo delete-topics --bootstrap-servers "$KAFKA_BOOTSTRAP_SERVERS" --prefix "$KAFKA_TEST_PREFIX" ||
    note "could not delete the topics with the prefix $KAFKA_TEST_PREFIX on $KAFKA_BOOTSTRAP_SERVERS"
}

# start_kafka DIR OPTION... starts an installed Apache Kafka and sets kafka_servers.
start_kafka() {
  start "$1.log" "$root/scripts/kafka" run "$@"
  wait_for_file "$1/servers" "$!" 150 || {
    cat "$1.log" >&2
    tail -n 20 "$1"/node*.out >&2 || true
    die "Kafka did not start"
  }
  # shellcheck disable=SC2034 # its callers read it
  kafka_servers=$(cat "$1/servers")
}

# start_embedded_cluster [DIR] starts an embedded cluster and sets `bootstrap`, and `cluster` to its process.
start_embedded_cluster() {
  local place=${1:-$temporary}
  start "$place/cluster.log" "$bin/millrace" embedded-cluster --bootstrap-file "$place/bootstrap"
  # shellcheck disable=SC2034
  cluster=$!
  wait_for_file "$place/bootstrap" "$cluster" 120 || { cat "$place/cluster.log" >&2; die "the cluster did not start"; }
  bootstrap=$(cat "$place/bootstrap")
}

# use_cluster NAME [DIR] sets `bootstrap` to KAFKA_BOOTSTRAP_SERVERS and creates the topics there, with a prefix that it
# exports. Without that variable it starts an embedded cluster, which creates its topics itself.
use_cluster() {
  local place=${2:-$temporary}
  [ -n "${KAFKA_BOOTSTRAP_SERVERS:-}" ] || { start_embedded_cluster "$place"; return; }
  bootstrap=$KAFKA_BOOTSTRAP_SERVERS
  export MILLRACE_TOPICS_PREFIX="$KAFKA_TEST_PREFIX$1-$$-"
  MILLRACE_KAFKA_BOOTSTRAP_SERVERS=$bootstrap MILLRACE_KAFKA_DURABILITY=relaxed "$bin/millrace" topics apply --yes \
    >"$place/topics.log" 2>&1 || { cat "$place/topics.log" >&2; die "could not create the topics"; }
}

# create_postgres DIR creates the files of a PostgreSQL server, which trusts every local client.
create_postgres() {
  need_packages postgresql
  postgres_bin=$(find /usr/lib/postgresql/*/bin -maxdepth 0 | sort -V | tail -n 1)
  # PostgreSQL does not run as root.
  postgres_as=()
  mkdir "$1"
  if [ "$(id -u)" -eq 0 ]; then
    postgres_as=(setpriv --reuid postgres --regid postgres --clear-groups)
    chown postgres "$1"
    chmod a+x "$(dirname "$1")"
  fi
  "${postgres_as[@]}" "$postgres_bin/initdb" -D "$1/data" -U postgres -A trust >"$1.init.log" 2>&1 ||
    { cat "$1.init.log" >&2; die "could not create a PostgreSQL server"; }
  postgres_port=$(free_port)
  # shellcheck disable=SC2034 # its callers read it
  postgres_url=postgresql://postgres@127.0.0.1:$postgres_port/postgres
}

# start_postgres DIR [on] starts the server of create_postgres and sets postgres_pid. Commits wait for the disk only with
# `on`: a killed process loses nothing without that, only a machine without power would.
start_postgres() {
  local tries=600 server=("${postgres_as[@]}" "$postgres_bin/postgres" -D "$1/data" -p "$postgres_port" -c fsync="${2:-off}"
    -c listen_addresses=127.0.0.1 -c unix_socket_directories=)
  start "$1.log" "${server[@]}"
  postgres_pid=$!
  until "$postgres_bin/pg_isready" -q -h 127.0.0.1 -p "$postgres_port" -U postgres; do
    [ $((tries--)) -gt 0 ] || { cat "$1.log" >&2; die "PostgreSQL did not start"; }
    sleep 0.1
    ! kill -0 "$postgres_pid" 2>/dev/null || continue
    # The port may be taken for a moment, and so may the memory of a server that was killed.
    grep -q "in use" "$1.log" || { cat "$1.log" >&2; die "PostgreSQL has ended"; }
    start "$1.log" "${server[@]}"
    postgres_pid=$!
  done
}

# is_running PID says whether a child, or the leader of a group -PID, still runs. Later its number may be another process.
is_running() { [ -n "$1" ] && [[ $'\n'$(jobs -pr; jobs -ps)$'\n' == *$'\n'"${1#-}"$'\n'* ]]; }

cleanup() {
  local status=$? index
  trap - EXIT INT TERM
  delete_topics
  # After SIGTERM PostgreSQL waits for its clients, after SIGINT it does not.
  ! is_running "${postgres_pid:-}" || kill -INT "$postgres_pid" 2>/dev/null || true
  # In reverse order: readers stop before the cluster they read from.
  for ((index = ${#children[@]} - 1; index >= 0; index--)); do
    ! is_running "${children[index]}" || stop "${children[index]}" || true
  done
  [ -z "$temporary" ] || rm -rf "$temporary"
  exit "$status"
}

# clean_up_at_exit stops the children and deletes the temporary files at the end of this script. It also sets the prefix
# of all topics that scripts create on a real cluster; the outermost script that sets it deletes them.
clean_up_at_exit() {
  if [ -z "${KAFKA_TEST_PREFIX:-}" ]; then
    owns_topics=true
    KAFKA_TEST_PREFIX="test-$(date +%s)-$$-"
    export KAFKA_TEST_PREFIX
  fi
  trap cleanup EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

# wait_for_file FILE PID SECONDS waits until a child has written a file, and fails if the child exits.
wait_for_file() {
  local tries=$(($3 * 20))
  until [ -s "$1" ]; do
    kill -0 "$2" 2>/dev/null || return 1
    [ $((tries--)) -gt 0 ] || return 1
    sleep 0.05
  done
}

# librdkafka_version PREFIX [COMMAND...] prints the version of librdkafka that a worker logs, if this command starts it. The
# cluster kafka_servers has the worker's topics, with this prefix.
librdkafka_version() {
  local log=$temporary/version.log tries=1200 pid
  cat >"$temporary/version.yaml" <<YAML
kafka: { bootstrapServers: "$kafka_servers", durability: relaxed, properties: { debug: generic } }
topics: { prefix: "$1" }
workers: { refunds: {} }
admin: { port: 0 }
logging: { level: trace }
YAML
  "${@:2}" "$bin/millrace-refunds" --config "$temporary/version.yaml" >"$log" 2>&1 &
  pid=$!
  until grep -q 'librdkafka v' "$log"; do
    { kill -0 "$pid" 2>/dev/null && [ $((tries--)) -gt 0 ]; } ||
      { stop "$pid" || true; tail -n 20 "$log" >&2; die "the worker did not log the version of librdkafka"; }
    sleep 0.1
  done
  stop "$pid" || { tail -n 20 "$log" >&2; die "the worker ended with status $? after SIGTERM"; }
  grep -m 1 -o 'librdkafka v[^ ]*' "$log" | cut -d v -f 2
}

# count_blocks PAGE prints the number of blocks of commands in a page: those that open with ```sh follow.
count_blocks() { grep -c '^```sh follow$' "$1" || die "$1 has no block that opens with \`\`\`sh follow"; }

# block PAGE NUMBER prints a block of commands. Within scripts/test it leaves out `swift build`, which after the build of
# an example links all programs again, while other steps start them.
block() {
  awk -v wanted="$2" -v built="${PROGRAMS_ARE_BUILT:-}" '
    /^```sh follow$/ { number++; inside = number == wanted; next }
    /^```/ { inside = 0 }
    inside && !(built && /^swift build( |$)/)' "$1"
}

# free_port prints a port without a listener. Another process may still take it before the caller does.
free_port() {
  local port
  for port in $(shuf -i 20000-29999 -n 50); do
    (: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
  die "no free port"
}

# python_environment NAME creates the Python environment of scripts/checks/NAME and sets `python`.
python_environment() {
  # Debian ships venv as a separate package.
  python3 -c "import ensurepip, venv" 2>/dev/null || need_packages python3 python3-venv
  local venv=$root/.build/$1 requirements=$root/scripts/checks/$1/requirements.txt
  if ! cmp -s "$requirements" "$venv/installed.txt"; then
    say "Installing the requirements of scripts/checks/$1 from PyPI"
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
    cp "$requirements" "$venv/installed.txt"
  fi
  python=$venv/bin/python
  export PYTHONDONTWRITEBYTECODE=1
}
