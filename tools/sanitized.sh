#!/bin/bash
# Runs a test under AddressSanitizer (.bazelrc, --run_under): libtorc_pmpi.so is loaded before the
# sanitizer's own library, and what MPICH itself never frees is no leak of ours. What the plugins of
# hwloc (below MPICH; Debian's libhwloc-plugins) never free would be told of without a name, for they
# are unloaded: there are none.
echo 'leak:libmpich.so' >"$TEST_TMPDIR/leaks"
export HWLOC_PLUGINS_PATH=/nonexistent
export ASAN_OPTIONS=verify_asan_link_order=0
export LSAN_OPTIONS="suppressions=$TEST_TMPDIR/leaks:print_suppressions=0"
exec "$@"
