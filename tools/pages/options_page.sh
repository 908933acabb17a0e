#!/usr/bin/env bash
# docs/users/options.md, made of the tables of options: options_page.sh PROGRAM... >docs/users/options.md
set -euo pipefail
cat <<'END'
# Options

All options of all commands, by `tools/pages/options_page.sh` from the rows that parse them; `--help` prints the same.
`--with KEY=VALUE,...` sets the experts' keys, which are options as well (`--peers fixed`).
END
for program in "$@"; do
  "$program" --table | awk -F '\t' -v program="$(basename "$program")" '
    { gsub(/\|/, "\\|") }
    $3 == "" { printf "\n## %s\n", $1 == program ? $1 : program " " $1; heading = ""; next }
    $3 ~ /^[A-Z[]/ { next }
    $2 != heading { heading = $2; printf "\n| %s | | default |\n| --- | --- | --- |\n", heading }
    {
      count = split($3, names, ",")
      term = ""
      for (i = 1; i <= count; ++i)
        term = term (i > 1 ? ", " : "") "`" (heading ~ /--with/ ? "" : length(names[i]) > 1 ? "--" : "-") names[i] ($4 == "" || i < count ? "" : (length(names[i]) > 1 ? "=" : " ") $4) "`"
      printf "| %s | %s | %s |\n", term, $7, $5 == "" ? "" : "`" $5 "`"
    }'
done
