#!/usr/bin/env bash
# Libraries export exactly the names in tools/packaging/*.symbols, the stable interface. MPI's
# functions in libtorc_pmpi.so are one pattern there.
#
#   symbols_test.sh SYMBOLS LIBRARY...
set -euo pipefail
source tests/checks.sh
symbols=$1
shift
for library in "$@"; do
  soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
  listed=$(sed -n "/^$soname /,/^[^ ]/s/^ \([^( ]*\) .*/\1/p" "$symbols" | sort)
  pattern=$(sed -n "/^$soname /,/^lib/s/^ (regex)\"\(.*\)\".*/\1/p" "$symbols")
  exported=$(nm -D --defined-only "$library" | awk '{ sub("@@", "@", $3); print $2 == "A" ? $3 "@" $3 : $3 }' | sort)
  [[ $(wc -l <<<"$listed") -gt 10 ]] || fail "$symbols lists too little of $soname"
  diff <(echo "$listed") <(grep -vE "${pattern:-^$}" <<<"$exported") ||
    fail "$library exports (>) other names than $symbols lists (<)"
done
