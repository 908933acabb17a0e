#!/bin/bash
# Runs a test under AddressSanitizer (.bazelrc, --run_under): libtorc_pmpi.so is loaded before the
# sanitizer's own library, and memory that MPICH itself never frees does not count as a leak. Leaks
# of the plugins of hwloc (below MPICH; Debian's libhwloc-plugins) would be reported without a name,
# as they are unloaded: plugins are disabled.
echo 'leak:libmpich.so' >"$TEST_TMPDIR/leaks"
export HWLOC_PLUGINS_PATH=/nonexistent
export ASAN_OPTIONS=verify_asan_link_order=0
export LSAN_OPTIONS="suppressions=$TEST_TMPDIR/leaks:print_suppressions=0"
exec "$@"
