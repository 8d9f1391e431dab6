#!/usr/bin/env bash
# Builds the image without a daemon and runs the demo against it.
# The container has an unprivileged user, a read-only root file system and no capabilities. With an installed Apache Kafka,
# the ingress in it authenticates by a password (SCRAM). The check installs buildah, podman, runc and mmdebstrap. It is skipped if it does not run as root, or without apt-get.
#
#   scripts/check image              builds the image's last stage from the existing debug build, with Swift's libraries
#   scripts/check image --static     the same, from a stripped release build with static linking by the local toolchain;
#                                    prints the size of Millrace's layer. Takes as long as a release build
#   scripts/check image --release    builds the whole Dockerfile as published. Takes as long as a release build; needs
#                                    BUILD_IMAGE, a local or remote image with Swift
#
# RUN_IMAGE names the base image. By default mmdebstrap creates one.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=scripts/packaging.sh
. "$root/scripts/packaging.sh"
# shellcheck source=scripts/scram.sh
. "$root/scripts/scram.sh"

kind=debug
case "${1:-}" in
'') ;;
--static | --release) kind=${1#--} ;;
*) usage "[--static|--release]" ;;
esac

cd "$root"
need_root_and_packages "the image" binutils buildah podman runc mmdebstrap python3

need_programs
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-image.XXXXXX")
swift package --scratch-path "$temporary/package" dump-package >"$temporary/package.json"
python3 -B scripts/checks/image/context.py <"$temporary/package.json" || die "the image cannot be built"
use_buildah "$temporary"
podman() { command podman "${storage[@]}" --runtime runc --cgroup-manager cgroupfs "$@"; }
stop_containers() { podman rm --force --all --time 5 >/dev/null 2>&1 || true; }
trap 'status=$?; set +e; stop_containers; (exit $status); cleanup' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

need_base_image
if [ "$kind" = release ]; then
  arguments=(--build-arg "BUILD_IMAGE=${BUILD_IMAGE:-swift:6.3-bookworm}")
  if [ -n "${BUILD_IMAGE:-}" ]; then arguments+=(--pull-never); else arguments+=(--pull); fi
else
  programs=$bin
  [ "$kind" = debug ] || build_static HEAD
  stage_image "$programs" "$temporary/stage"
  arguments=(--pull-never --build-context "build=$temporary/stage")
fi
build_image localhost/millrace:check "${arguments[@]}"

layer=$(podman run --rm --no-healthcheck --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 --entrypoint /usr/bin/du localhost/millrace:check -sb /usr/local/bin/millrace /usr/local/bin/millrace-postgres 2>/dev/null |
  awk '{ bytes += $1 } END { print bytes }')
note "Millrace's layer: $((layer / 1000000)) MB$([ "$kind" != debug ] || echo ', a debug build without Swift'\''s libraries')"
if [ "$kind" != debug ] && [ "$layer" -gt 100000000 ]; then die "Millrace's layer is larger than 100 MB"; fi

say "Running the demo with the ingress in a container: unprivileged, read-only, without capabilities"
config=$temporary/millrace.yaml
# nobody NAME COMMAND... runs the image with Kubernetes' restrictions, as an unprivileged user.
nobody() {
  local name=$1
  shift
  podman run --name "millrace-check-$name" --no-healthcheck --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 --network host --read-only --read-only-tmpfs=false --cap-drop ALL \
    --security-opt no-new-privileges --user 65532:65532 --env MILLRACE_CONFIG="$config" --env MILLRACE_INGRESS_DEADLINE=2m \
    --env LD_LIBRARY_PATH=/usr/local/lib/swift --volume "$temporary/shared:$temporary:ro" localhost/millrace:check "$@"
}
start_demo_cluster
prepare_demo
# The container gets only the files it needs, under the same path. The topic files are in the program.
mkdir "$temporary/shared"
demo_configuration >"$temporary/shared/millrace.yaml"
find "$temporary" -maxdepth 1 -type f \( -name '*.der' -o -name '*.pem' -o -name 'shared-secret' \) -exec cp {} "$temporary/shared/" \;
chmod -R a+rX "$temporary/shared"
start "$temporary/ingress.log" nobody ingress
demo wait-ready --seconds 300 || { cat "$temporary/ingress.log" >&2; die "the ingress did not become ready"; }
nobody health millrace health --ready
post_demo "$(sed -n 's/^ingress: { host: \(.*\), port: \(.*\) }.*/http:\/\/\1:\2/p' "$config")"
demo forge >/dev/null
demo check --every-kind
# Every user may write to /tmp, unless the file system is read-only.
nobody root sh -c ': >/tmp/written' 2>"$temporary/root.log" && die "the container can write to its root file system"
grep -q 'Read-only file system' "$temporary/root.log" || { cat "$temporary/root.log" >&2; die "the container did not report a read-only file system"; }
podman stop --time 40 millrace-check-ingress >/dev/null
[ "$(podman inspect --format '{{.State.ExitCode}}' millrace-check-ingress)" = 0 ] || die "the ingress did not exit with status 0 after SIGTERM"
note "the ingress ran as user 65532 with a read-only root and exited with status 0"
