#!/usr/bin/env bash
# docs/ as a book: it is made, all of its links lead somewhere, and missing pages are reported, a
# line each.
set -euo pipefail
source tests/checks.sh

bash tools/pages/book.sh "$work/book"
python3 tests/tools/book_links.py "$work/book" || fail "links"
! grep -rE '(src="|<link [^>]*href="|url\()(https?:)?//' "$work/book" --include='*.html' --include='*.css' || fail "a page asks for a network"
for page in users sites research; do
  grep -q "\"$page/tutorial.html\"" "$work/book/index.html" || fail "the first page has no tutorial for $page"
done

# A copy with faults. What Bazel gives a test are links.
mkdir "$work/other"
cp -rL docs tools "$work/other"
sed -i '/users\/view.md/d' "$work/other/docs/README.md"
echo '[a](none.md) [b](cli.md#none)' >>"$work/other/docs/users/dedicated.md"
! bash "$work/other/tools/pages/book.sh" "$work/none" >"$work/said.txt" 2>&1 || fail "faults are not told"
for fault in 'README.md: users/view.md is missing' 'users/dedicated.md: none.md: the book has no such page' \
  'users/dedicated.md: cli.md#none: no such heading'; do
  grep -qxF "book: $fault" "$work/said.txt" || fail "not told: $fault: $(cat "$work/said.txt")"
done
[[ ! -e $work/none ]] || fail "a book with faults is written"
