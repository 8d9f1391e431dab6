#!/usr/bin/env bash
# Builds the DocC pages of the libraries into .build/docc, and checks their links and Swift code.
# It uses the toolchain's `docc` and the output of `swift build`, without a plug-in or another build.
#
#   scripts/check docc              all libraries that have a catalogue
#   scripts/check docc AppStore     one library
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

need_swift
cd "$root"
need_programs
libraries=("$@")
[ ${#libraries[@]} -gt 0 ] || mapfile -t libraries < <(find Sources -name '*.docc' -printf '%f\n' | sed 's/\.docc$//' | sort)

# Module maps of C modules, from packages and from the build.
includes=(-I "$bin/Modules" -I Sources/CRDKafka)
while read -r map; do includes+=(-Xcc "-fmodule-map-file=$map"); done < <(
  { find .build/checkouts -path '*/include/module.modulemap'; find "$bin" -maxdepth 2 -name module.modulemap; } |
    grep -v -e /Tests/ -e /Plugins/ | sort)
target=$(swift -print-target-info | sed -nE 's/.*"unversionedTriple": "([^"]+)".*/\1/p' | head -n 1)
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-docc.XXXXXX")
clean_up_at_exit

# told LOG prints DocC's findings about pages of a catalogue. It ignores findings about comments in sources.
told() {
  local found
  found=$(awk '/^(warning|error): / { what = $0 } /^ *--> / && $2 ~ /\.md:/ { print what " (" $2 ")" }' "$1")
  [ -z "$found" ] || { printf '%s\n' "$found" >&2; return 1; }
}

# compiles LIBRARY type-checks every Swift block in the library's catalogue.
compiles() {
  local page folder=$temporary/$1-swift
  mkdir "$folder"
  for page in "Sources/$1/$1.docc"/*.md; do
    awk -v folder="$folder" '
      /^```swift$/ { inside = 1; file = sprintf("%s/%d.swift", folder, ++number); next }
      /^```$/ { inside = 0 }
      inside { print > file }' "$page"
  done
  for page in "$folder"/*.swift; do
    [ -e "$page" ] || continue
    swiftc -typecheck -swift-version 6 -target "$target" "${includes[@]}" "$page" >>"$temporary/$1.log" 2>&1 || {
      note "block $(basename "$page" .swift) of Sources/$1/$1.docc does not compile"
      return 1
    }
  done
}

mkdir -p .build/docc
failed=()
for library in "${libraries[@]}"; do
  symbols=$temporary/$library log=$temporary/$library.log
  mkdir "$symbols"
  catalogue=Sources/$library/$library.docc
  [ -d "$catalogue" ] || die "no catalogue $catalogue"
  swift symbolgraph-extract -module-name "$library" -target "$target" "${includes[@]}" \
    -minimum-access-level public -skip-inherited-docs -output-dir "$symbols" >"$log" 2>&1 &&
    docc convert "$catalogue" --additional-symbol-graph-dir "$symbols" --fallback-display-name "$library" \
      --fallback-bundle-identifier "dev.millrace.$library" --output-path ".build/docc/$library.doccarchive" >>"$log" 2>&1 &&
    told "$log" && compiles "$library" && note ".build/docc/$library.doccarchive" && continue
  failed+=("$library")
  grep -E -A 6 '^(error|Error): |: error: ' "$log" | head -n 60 >&2 || true
done
[ ${#failed[@]} -eq 0 ] || die "errors in the documentation of: ${failed[*]}"
