#!/bin/bash
# The sources are formatted as .clang-format says.
set -euo pipefail
cd "$(dirname "$(realpath WORKSPACE)")"
bash tools/format.sh --check
