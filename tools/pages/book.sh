#!/usr/bin/env bash
# Writes docs/ as a book: one HTML page for each Markdown page, in the order of docs/README.md, with the
# figures and files beside them. It opens from a disk, without network. docs/developers/adding.md says more.
#
#   bash tools/pages/book.sh [FOLDER]        default: build/book; index.html is the first page
set -euo pipefail
if [[ $# -gt 1 || ${1-} == -* ]]; then
  echo "usage: bash tools/pages/book.sh [FOLDER]" >&2
  exit 2
fi
folder=$(realpath -m "${1:-build/book}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# Debian's modules are there; a node from elsewhere does not search it.
export NODE_PATH=${NODE_PATH:+$NODE_PATH:}/usr/share/nodejs
node tools/pages/book/book.mjs docs tools/pages/book/style.css "$folder"
