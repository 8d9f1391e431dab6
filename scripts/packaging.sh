# Programs and images for packages. scripts/release and checks source this file after lib.sh.
# shellcheck shell=bash

# need_root_and_packages WHAT PACKAGE... installs Debian packages. It skips the check of WHAT if this is not possible.
need_root_and_packages() {
  local missing=''
  [ "$(id -u)" -eq 0 ] || missing="only root can check it"
  command -v apt-get >/dev/null || missing="apt-get is not available"
  [ -z "$missing" ] || { note "skipped: $1 ($missing)"; exit 0; }
  need_packages "${@:2}"
}

# The directory with the sources of the packaged programs: this checkout, or the commit that build_static has built.
sources=$root

# program_names prints the names of `millrace` besides its own, without `millrace-`, as the Dockerfile links them.
program_names() { sed -n 's/.*for name in \(.*\); do.*/\1/p' "$sources/Dockerfile"; }

# build_static COMMIT builds both programs as the Dockerfile does. It sets `programs` to their directory and `sources` to
# the directory of the commit's files.
build_static() {
  local flags program
  sources=$root/.build/static-source
  rm -rf "$sources"
  mkdir -p "$sources"
  # Not the working tree: `git archive` writes the commit into the programs (.gitattributes).
  git -C "$root" archive "$1" | tar -x -C "$sources"
  read -ra flags <<<"$(sed -n 's/^ENV BUILD_FLAGS="\(.*\)"$/\1/p' "$sources/Dockerfile")"
  [ ${#flags[@]} -gt 0 ] || die "the Dockerfile has no line ENV BUILD_FLAGS"
  flags+=(--package-path "$sources" --scratch-path "$root/.build/static")
  say "Building as the Dockerfile does (the first time takes minutes)"
  for program in millrace millrace-postgres; do swift build --quiet "${flags[@]}" --product "$program"; done
  # shellcheck disable=SC2034 # its callers read it
  programs=$(swift build "${flags[@]}" --show-bin-path)
}

# install_programs FROM TO installs both programs without debug information, and every name of `millrace`.
install_programs() {
  local name
  for name in millrace millrace-postgres; do install -D --strip --mode 755 "$1/$name" "$2/$name"; done
  for name in $(program_names); do ln -s millrace "$2/millrace-$name"; done
}

# install_swift_libraries FROM TO installs the libraries of the toolchain that the programs link. A static build has none.
install_swift_libraries() {
  local libraries
  mapfile -t libraries < <(ldd "$1/millrace" "$1/millrace-postgres" | awk '/swift/ && $3 ~ "^/" { print $3 }' | sort -u)
  [ ${#libraries[@]} -eq 0 ] || install -D --mode 644 --target-directory "$2" "${libraries[@]}"
}

# use_buildah DIR keeps the images of this run in DIR. The script deletes them at its end.
use_buildah() { storage=(--root "$1/storage" --runroot "$1/run"); }
buildah() { command buildah "${storage[@]}" "$@"; }

# need_base_image sets `base` to RUN_IMAGE. Without that variable, mmdebstrap creates an image of Debian.
need_base_image() {
  base=${RUN_IMAGE:-}
  [ -z "$base" ] || return 0
  local container
  base=localhost/millrace-base:latest
  debian_root "$root/.build/image-base-trixie.tar" trixie
  container=$(buildah from --pull-never scratch)
  buildah add --quiet "$container" "$root/.build/image-base-trixie.tar" / >/dev/null
  buildah commit --quiet "$container" "$base" >/dev/null
  buildah rm "$container" >/dev/null
}

# debian_root TAR SUITE [OPTION...] creates the files of a small Debian with mmdebstrap, unless they are there.
debian_root() {
  [ ! -s "$1" ] || return 0
  say "Bootstrapping Debian"
  mmdebstrap --quiet --variant=minbase "${@:3}" "$2" "$1.new.tar" 2>"$temporary/mmdebstrap.log" ||
    { rm -f "$1.new.tar"; tail -n 20 "$temporary/mmdebstrap.log" >&2; die "mmdebstrap could not create $1"; }
  mv "$1.new.tar" "$1"
}

# build_image TAG ARGUMENT... builds the Dockerfile.
build_image() {
  say "Building the image"
  buildah bud --isolation chroot --format docker --build-arg "RUN_IMAGE=$base" --tag "$1" "${@:2}" "$sources" \
    >"$temporary/build.log" 2>&1 || { tail -n 30 "$temporary/build.log" >&2; die "buildah could not build the image"; }
}

# stage_image FROM DIR lays out the files that the Dockerfile's first stage would make, in DIR/out. `--build-context
# build=DIR` gives them to the last stage.
stage_image() {
  install_programs "$1" "$2/out/usr/local/bin"
  install_swift_libraries "$1" "$2/out/usr/local/lib/swift"
}

# start_demo_cluster starts a cluster and sets `bootstrap`: an installed Kafka, or an embedded cluster.
start_demo_cluster() {
  if "$root/scripts/kafka" found >/dev/null 2>&1; then
    start_scram_kafka "$temporary/kafka"
    add_scram_user millrace
    bootstrap=$kafka_servers
    note "Kafka $(installed_kafka), with a listener for passwords (SCRAM)"
  else
    start_embedded_cluster
    note "skipped: SCRAM: no Apache Kafka is installed"
  fi
}

# prepare_demo writes the configuration of the demo, and creates the topics in an installed Kafka.
prepare_demo() {
  # The journal of the posts of an earlier run.
  rm -f "$temporary/journal.jsonl"
  demo prepare --bootstrap-servers "$bootstrap" --topics "$root/topics"
  [ -z "${scram_servers:-}" ] || "$bin/millrace" topics apply --yes --config "$temporary/millrace.yaml" >"$temporary/topics.log" 2>&1 ||
    { cat "$temporary/topics.log" >&2; die "could not create the topics"; }
}

# demo_configuration prints the demo's configuration with the topic files of the program. In an installed Kafka its clients
# authenticate by passwords.
demo_configuration() {
  sed "/^topics:\$/d; /^  directory: /d
    ${scram_servers:+s|^  bootstrapServers: .*|  bootstrapServers: \"$scram_servers\"\n  properties: $(scram_properties millrace)|}" \
    "$temporary/millrace.yaml"
}

# demo STEP OPTION... runs a step of scripts/demo with the files in $temporary.
demo() { "$bin/millrace-scenarios" demo "$1" --directory "$temporary" "${@:2}"; }

# post_demo URL posts the notifications of scenarios/demo.yaml to an ingress. The simulator runs until each has its
# answer, not for the scenario's duration, after which a slow machine would leave posts unanswered.
post_demo() {
  local port simulator
  port=$(free_port)
  sed '/^duration: /d; s/^delivery: { /&concurrency: 4, timeout: 2m, /' "$root/scenarios/demo.yaml" >"$temporary/demo.yaml"
  start "$temporary/simulator.log" "$bin/appstore-simulator" run "$temporary/demo.yaml" --port "$port" \
    --chain "$temporary/chain.pem" --target "$1/v2" --target-v1 "$1/v1" --shared-secret "$temporary/shared-secret" \
    --write-sent "$temporary/sent.jsonl" --report "$temporary/report.json"
  simulator=$!
  if ! python3 -B "$root/scripts/checks/packages/await_answers.py" "http://127.0.0.1:$port/simulator/report" "$simulator" ||
    ! stop "$simulator"; then
    cat "$temporary/simulator.log" >&2
    die "the simulator did not post every notification"
  fi
}
