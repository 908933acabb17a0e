#!/bin/bash
# Writes the page with its style and its modules, joined to one script, in their places: join.sh
# PAGE STYLE MODULE... Modules share one scope: they export under one name each, and import under
# it. Every page contains them: their indentation, a seventh of them, is removed.
set -euo pipefail
page=$1 style=$2
shift 2
while IFS= read -r line; do
  case $line in
    *@@STYLE@@*) cat "$style" ;;
    *@@SCRIPT@@*)
      printf '(() => {\n"use strict";\n'
      for module; do
        sed -e '/^import .*;$/d' -e '/^import {$/,/^} from .*;$/d' -e 's/^export //' -e 's/^ *//' "$module"
      done
      printf '})();\n'
      ;;
    *) printf '%s\n' "$line" ;;
  esac
done <"$page"
