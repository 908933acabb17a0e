/* Another library in the place of UCX's: dlopen of libucp.so.0 gives the one that TEST_UCP names.
 * As a library of that kind itself (-DTEST_VERSION) it is UCX of another version. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#ifdef TEST_VERSION
void ucp_get_version(unsigned* major, unsigned* minor, unsigned* release) {
  *major = 1;
  *minor = 999;
  *release = 0;
}
#else
void* dlopen(const char* name, int flags) {
  static void* (*next)(const char*, int);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "dlopen");
  const char* other = getenv("TEST_UCP");
  if (other != NULL && name != NULL && strcmp(name, "libucp.so.0") == 0) name = other;
  return next(name, flags);
}
#endif
