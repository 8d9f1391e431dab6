#!/usr/bin/env bash
# Builds the packages from the debug build, installs them in a fresh Debian, and runs the demo with the installed ingress.
# It builds them twice and compares the bytes. It checks the checksums, the tarball, the chart, the SBOM, the version, the
# units, and that Depends names every library. In the fresh system it runs the demo's ingress as the user millrace-ingress,
# and measures the time from the installation to the first notification in Kafka. Each user may read the secrets of its
# own process only. In the end it removes the packages, and installs them in Debian 13, where the ingress authenticates by a
# password (SCRAM) if an Apache Kafka is installed. The check installs mmdebstrap and dpkg-dev. It is skipped if it does
# not run as root, or without apt-get.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=scripts/packaging.sh
. "$root/scripts/packaging.sh"
# shellcheck source=scripts/scram.sh
. "$root/scripts/scram.sh"

[ $# -eq 0 ] || usage ""
cd "$root"
need_root_and_packages "the packages" dpkg-dev mmdebstrap python3
need_programs
python_environment packages
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-packages.XXXXXX")
clean_up_at_exit
# quietly ERROR COMMAND... runs a command, and prints its output only if it fails.
quietly() { "${@:2}" >"$temporary/output.log" 2>&1 || { cat "$temporary/output.log" >&2; die "$1"; }; }

say "One version"
version=$(cat VERSION)
for file in "helm/millrace/Chart.yaml:version: $version" "helm/millrace/Chart.yaml:appVersion: \"$version\""; do
  grep -qxF "${file#*:}" "${file%%:*}" || die "${file%%:*} has no line '${file#*:}'; VERSION contains $version"
done
grep -q "^## $version - " CHANGELOG.md || die "CHANGELOG.md has no section $version"
note "$version in VERSION, the chart and the changelog"

say "Building the packages twice"
from=$SECONDS
scripts/release --debug --no-image --output "$temporary/dist"
took=$((SECONDS - from))
quietly "the second build failed" scripts/release --debug --no-image --output "$temporary/again"
quietly "two builds of the same programs differ" diff -r "$temporary/dist" "$temporary/again"
note "$took s for a build; both have the same bytes"
dist=$temporary/dist
(cd "$dist" && sha256sum --check --quiet SHA256SUMS) || die "SHA256SUMS does not match the files"
[ "$(wc -l <"$dist/SHA256SUMS")" -eq "$(find "$dist" -type f ! -name SHA256SUMS | wc -l)" ] ||
  die "SHA256SUMS does not list every file"
package() { echo "$dist/$1"_*.deb; }

say "Libraries"
depends_of() { dpkg-deb --field "$(package "$1")" Depends | tr ',' '\n' | sed 's/^ *//; s/ .*//' | grep -vx millrace; }
# owner LIBRARY prints the Debian package of a library. /lib is a symbolic link, and dpkg knows a file by one of its names.
owner() {
  local file
  for file in "$1" "$(realpath "$1")" "${1#/usr}" "/usr$1"; do
    dpkg --search "$file" 2>/dev/null | sed 's/:.*//' | grep . && return
  done
  die "no package contains $1"
}
# The libraries of a program that are not Swift's: `ldd` names those of libraries too, `objdump` only its own.
all_libraries() { ldd "$1" | awk '$3 ~ "^/" && !/swift/ { print $3 }'; }
direct_libraries() {
  local name
  objdump --private-headers "$1" | awk '$1 == "NEEDED" { print $2 }' | while read -r name; do
    all_libraries "$1" | grep "/${name//./\\.}\$" || true
  done
}
mkdir "$temporary/unpacked"
for name in millrace millrace-postgres; do
  dpkg-deb --extract "$(package "$name")" "$temporary/unpacked"
  program=$temporary/unpacked/usr/bin/$name
  for library in $(direct_libraries "$program"); do
    depends_of "$name" | grep -x "$(owner "$library")" >/dev/null || die "Depends of $name lacks $(owner "$library") ($library)"
  done
  for library in $(all_libraries "$program"); do owner "$library"; done | sort -u >"$temporary/$name.owners"
  note "$name depends on $(depends_of "$name" | paste -sd ' ')"
  note "  with the libraries of these libraries, $(wc -l <"$temporary/$name.owners") packages"
done
! ldd "$temporary/unpacked/usr/bin/millrace" | grep libpq || die "millrace links libpq"
ldd "$temporary/unpacked/usr/bin/millrace-postgres" | grep 'libpq\.so' >/dev/null || die "millrace-postgres does not link libpq"

say "SBOM"
mapfile -t libraries < <(for name in millrace millrace-postgres; do depends_of "$name"; done | grep -E '^lib' | sort -u)
"$python" scripts/checks/packages/check_sbom.py "$dist"/*.cdx.json .build/checkouts Package.swift "${libraries[@]}" \
  >"$temporary/sbom.log" || die "the SBOM is wrong"
note "CycloneDX 1.5: $(cat "$temporary/sbom.log")"

say "Chart"
mkdir "$temporary/chart"
tar -xf "$dist/millrace-$version.tgz" -C "$temporary/chart"
[ "$(tar -tf "$dist/millrace-$version.tgz" | sed -n 1p)" = millrace/Chart.yaml ] || die "the chart does not begin with Chart.yaml"
quietly "the packaged chart differs from helm/millrace" diff -r --exclude ci helm/millrace "$temporary/chart/millrace"
[ ! -e "$temporary/chart/millrace/ci" ] || die "the packaged chart contains ci/, which .helmignore names"
if command -v helm >/dev/null; then helm show chart "$dist/millrace-$version.tgz" >/dev/null; fi

say "Installing in a fresh Debian"
. /etc/os-release
mapfile -t included < <(for name in millrace millrace-postgres; do depends_of "$name"; done | sort -u)
include=$(IFS=,; echo "${included[*]}")
# Another list of dependencies needs another root.
[ "$(cat .build/packages-root.include 2>/dev/null)" = "$VERSION_CODENAME $include" ] || rm -f .build/packages-root.tar
debian_root "$root/.build/packages-root.tar" "$VERSION_CODENAME" --include "$include"
echo "$VERSION_CODENAME $include" >.build/packages-root.include
fresh=$temporary/root
mkdir "$fresh"
tar -xf .build/packages-root.tar -C "$fresh"
# enter_root sets `enter` to a command that runs another one in the fresh system, with /proc and without the environment of
# this script: as root, or like a unit as the user `as` with that user's groups. The mount disappears with the command.
enter_root() {
  # shellcheck disable=SC2016
  enter=(unshare --mount --propagation private sh -c 'mount -t proc proc "$0/proc" && exec "$@"' "$fresh"
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive
    MILLRACE_CONFIG=/etc/millrace/config/millrace.yaml MILLRACE_INGRESS_DEADLINE=2m
    ${library_path:+"LD_LIBRARY_PATH=$library_path"} chroot "$fresh"
    ${as:+setpriv --reuid "$as" --regid "$as" --init-groups --no-new-privs --bounding-set=-all --inh-caps=-all})
}
in_root() { enter_root; "${enter[@]}" "$@"; }
as='' library_path=''

cp "$dist/millrace-$version-linux-"*.tar.gz "$fresh/tmp/millrace.tar.gz"
in_root tar -xf /tmp/millrace.tar.gz -C /opt
unpacked=/opt/$(ls "$fresh/opt")
library_path=$unpacked/swift
for name in '' $(program_names | sed 's/[^ ]*/-&/g') -postgres; do
  quietly "millrace$name of the tarball does not start" in_root "$unpacked/bin/millrace$name" --version
  grep -qwF "$version" "$temporary/output.log" || die "millrace$name of the tarball does not print the version $version"
done
library_path=''
rm -r "$fresh"/opt/* "$fresh/tmp/millrace.tar.gz"
note "the programs of the tarball start"

# run_demo installs the packages in the fresh system, and runs the demo with the installed ingress. `bootstrap` is the cluster.
run_demo() {
  local etc=$fresh/etc/millrace began name ingress_pid listen_pid
  as='' library_path=''
  prepare_demo
  cp "$dist"/*.deb "$fresh/tmp/"
  began=$EPOCHSECONDS
  for name in millrace millrace-postgres; do
    quietly "dpkg could not install $name" in_root dpkg --install "/tmp/$(basename "$(package "$name")")"
  done
  note "installed both packages in $((EPOCHSECONDS - began)) s"
  # The demo's configuration at the places of the package. The topic files are in the program.
  demo_configuration | sed "s:$temporary/root.pem:/etc/millrace/config/root.pem:
    s:$temporary/shared-secret:/etc/millrace/secrets/shared-secrets/v1:" >"$etc/config/millrace.yaml"
  install --mode 644 "$temporary/root.pem" "$etc/config/"
  cp "$temporary/shared-secret" "$fresh/tmp/"
  in_root install --mode 640 --group millrace-shared-secrets /tmp/shared-secret /etc/millrace/secrets/shared-secrets/v1
  as=millrace-ingress
  enter_root
  start "$temporary/ingress.log" "${enter[@]}" millrace-ingress
  ingress_pid=$!
  demo wait-ready --seconds 300 || { cat "$temporary/ingress.log" >&2; die "the ingress did not become ready"; }
  in_root millrace health --ready
  as=''
  enter_root
  start "$temporary/first.jsonl" "${enter[@]}" millrace listen --family tests --from earliest --limit 1 --json
  listen_pid=$!
  post_demo "$(sed -n 's/^ingress: { host: \(.*\), port: \(.*\) }.*/http:\/\/\1:\2/p' "$temporary/millrace.yaml")"
  if ! wait "$listen_pid" || ! grep -q '"type":"TEST"' "$temporary/first.jsonl"; then
    cat "$temporary/first.jsonl" >&2
    die "the installed millrace listen did not see the TEST notification"
  fi
  note "a TEST notification was in Kafka $(($(stat --format=%Y "$temporary/first.jsonl") - began)) s after dpkg began"
  demo forge >/dev/null
  demo check --every-kind
  [ "$(in_root id --user millrace-ingress)" = "$(stat --format=%u "/proc/$ingress_pid")" ] ||
    die "the ingress does not run as the user millrace-ingress"
  stop "$ingress_pid" || die "the ingress ended with status $? after SIGTERM: $(tail -n 5 "$temporary/ingress.log")"
  note "the ingress ran as the user millrace-ingress and exited with status 0 after SIGTERM"
}

say "Installing the packages, and running the demo with the installed ingress"
start_embedded_cluster
run_demo
etc=$fresh/etc/millrace

say "Checking the installed files"
for name in millrace $(program_names | sed 's/[^ ]*/millrace-&/g') millrace-postgres; do
  for file in "man/man1/$name.1.gz" "bash-completion/completions/$name" "zsh/vendor-completions/_$name" \
    "fish/vendor_completions.d/$name.fish"; do
    [ -s "$fresh/usr/share/$file" ] || die "the packages lack /usr/share/$file"
  done
  gzip --decompress --stdout "$fresh/usr/share/man/man1/$name.1.gz" | grep '^\.SH NAME$' >/dev/null || die "$name.1 is no manual page"
  quietly "bash cannot read the completions of $name" in_root bash -n "/usr/share/bash-completion/completions/$name"
done
gzip --decompress --stdout "$fresh/usr/share/man/man1/millrace.1.gz" | grep '^\.SS "millrace topics apply"$' >/dev/null ||
  die "the manual page of millrace does not have its commands"
note "manual pages and completions for bash, zsh and fish"
# dpkg --verify marks configuration files with "c".
in_root dpkg --verify millrace millrace-postgres >"$temporary/verify.log" || true
! grep -v ' c /etc/millrace/config/millrace.yaml$' "$temporary/verify.log" || die "dpkg --verify reports changed files"
while read -r name; do
  [ "$(in_root dpkg-query --show --showformat='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] ||
    die "a program loads a library of $name, which the dependencies do not install"
done < <(cat "$temporary"/*.owners)
for name in '' $(program_names | sed 's/[^ ]*/-&/g') -postgres; do
  quietly "the installed millrace$name does not start" in_root "millrace$name" --version
  grep -qwF "$version" "$temporary/output.log" || die "the installed millrace$name does not print the version $version"
done
mapfile -t units < <(cd "$fresh/usr/lib/systemd/system" && ls millrace-*.service)
[ ${#units[@]} -eq "$(find deploy/systemd -name '*.service' | wc -l)" ] || die "the packages do not contain every unit"
quietly "systemd does not accept the units" in_root systemd-analyze verify --man=no "${units[@]}"
[ ! -s "$temporary/output.log" ] || die "systemd-analyze warns: $(cat "$temporary/output.log")"
quietly "the unit cannot be enabled" in_root systemctl enable millrace-ingress.service
note "systemd accepts the ${#units[@]} units"

# owners_and_modes PATH... prints the owner and mode of files in the fresh system.
owners_and_modes() { in_root stat --format '%a %U:%G %n' "$@"; }
[ "$(owners_and_modes /etc/millrace/config/millrace.yaml /etc/millrace/secrets | paste -sd ' ')" = \
  '640 root:millrace /etc/millrace/config/millrace.yaml 750 root:millrace /etc/millrace/secrets' ] ||
  die "the configuration and the folder of secrets do not belong to root:millrace with modes 640 and 750"
mapfile -t folders < <(cd "$etc/secrets" && ls)
for name in "${folders[@]}"; do echo "750 root:millrace-$name /etc/millrace/secrets/$name"; done >"$temporary/folders"
quietly "the folders of secrets have other owners or modes" diff "$temporary/folders" \
  <(owners_and_modes "${folders[@]/#//etc/millrace/secrets/}")
# Writes a secret into every folder, and prints the users and folders where the user of a unit can read it. Without
# systemd, the unit does not hide the other folders, so owners and modes must.
# shellcheck disable=SC2016
in_root sh -c '
  for folder; do
    echo secret >"$folder/check" && chmod 640 "$folder/check" && chgrp "millrace-${folder##*/}" "$folder/check" || exit
  done
  for unit in /usr/lib/systemd/system/millrace-*.service; do
    user=$(sed -n "s/^User=//p" "$unit")
    for file in /etc/millrace/config/millrace.yaml /etc/millrace/secrets/*/check; do
      ! setpriv --reuid "$user" --regid "$user" --init-groups cat "$file" >/dev/null 2>&1 || echo "$user $file"
    done
  done' sh "${folders[@]/#//etc/millrace/secrets/}" | sort >"$temporary/readable"
for name in "${units[@]}"; do
  echo "${name%.service} /etc/millrace/config/millrace.yaml"
  grep -o '/etc/millrace/secrets/[a-z-]*' "deploy/systemd/$name" | sed "s:.*:${name%.service} &/check:"
done | sort >"$temporary/granted"
quietly "users can read other secrets than those of their processes" diff "$temporary/granted" "$temporary/readable"
note "each of the ${#units[@]} users can read the configuration, and only the secrets of its own process"

say "Removing the packages"
rm "$etc/config/root.pem" "$etc/secrets/shared-secrets/v1"
find "$etc/secrets" -name check ! -path '*/api/*' -delete
left() {
  (cd "$fresh" && find etc usr var -path '*millrace*' ! -type d ! -path 'var/lib/dpkg/*' | sort | paste -sd ' ')
}
quietly "dpkg could not remove the packages" in_root dpkg --remove millrace-postgres millrace
[ "$(left)" = 'etc/millrace/config/millrace.yaml etc/millrace/secrets/api/check' ] ||
  die "after dpkg --remove there are: $(left)"
quietly "dpkg could not purge the packages" in_root dpkg --purge millrace-postgres millrace
[ "$(left)" = etc/millrace/secrets/api/check ] || die "after dpkg --purge there are: $(left)"
note "removal left the configuration file and a secret, and a purge only the secret"

# Debian 12 built the packages. They are for Debian 13 too, whose librdkafka authenticates by SCRAM with every Kafka.
say "Installing the same packages in Debian 13, and running the demo"
[ "$(cat .build/packages-trixie-root.include 2>/dev/null)" = "$include" ] || rm -f .build/packages-trixie-root.tar
debian_root "$root/.build/packages-trixie-root.tar" trixie --include "$include"
echo "$include" >.build/packages-trixie-root.include
fresh=$temporary/trixie
mkdir "$fresh"
tar -xf .build/packages-trixie-root.tar -C "$fresh"
start_demo_cluster
run_demo
for name in millrace millrace-postgres; do
  ! in_root ldd "/usr/bin/$name" | grep 'not found' || die "Debian 13 lacks a library of $name"
done
note "librdkafka1 $(in_root dpkg-query --show --showformat='${Version}' librdkafka1)"
quietly "dpkg could not remove the packages" in_root dpkg --purge millrace-postgres millrace
say "The packages run on Debian $(. /etc/os-release && echo "$VERSION_ID") and 13"
