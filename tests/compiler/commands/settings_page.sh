#!/usr/bin/env bash
# Checks that docs/users/settings.md has a row for every variable of `torc info`, with its text, and
# names no other: settings_page.sh TORC PAGE
set -euo pipefail
torc=$1
page=$2
faults=0
fail() {
  echo "$page: $*" >&2
  faults=$((faults + 1))
}

# The value of a key on a line of its own.
value() {
  sed -n "s/^ *\"$1\": \"\{0,1\}\(.*[^\"]\)\"\{0,1\},\$/\1/p" <<<"$line"
}

names=()
while IFS= read -r line; do
  case $line in
    *'"name":'*) name=$(value name) ;;
    *'"values":'*) values=$(value values) ;;
    *'"agreed":'*) [[ $(value agreed) == true ]] && ranks=alike || ranks='rank 0' ;;
    *'"default":'*)
      default=$(value default)
      names+=("$name")
      row="| \`$name=${values//|/\\|}\` | ${default:+\`$default\` }| $ranks | "
      grep -qF -- "$row" "$page" || fail "there is no row '$row'"
      ;;
  esac
done < <("$torc" info --json)
((${#names[@]} > 10)) || fail "torc info printed ${#names[@]} variables only"

# The page may give an example of a name that is none.
for name in $(grep -oE 'TORC_[A-Z_]+' "$page" | sort -u); do
  [[ $name == TORC_ || $name == TORC_LIBARY || " ${names[*]} " == *" $name "* ]] ||
    fail "$name is no variable"
done
((faults == 0))
