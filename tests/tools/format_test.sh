#!/bin/bash
# The sources are formatted by .clang-format.
set -euo pipefail
cd "$(dirname "$(realpath WORKSPACE)")"
bash tools/format.sh --check
