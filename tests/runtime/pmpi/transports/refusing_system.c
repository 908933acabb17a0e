/* A system that gives no memory and lets nobody copy, preloaded:
 *   TEST_FALLOCATE=K      posix_fallocate fails from the K-th call on
 *   TEST_COPIES=K:ERROR   each K-th process_vm_readv or process_vm_writev fails with this error
 *   TEST_LIMIT=RESOURCE   getrlimit says that the process may have 1 byte of it */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

int posix_fallocate(int file, off_t offset, off_t bytes) {
  static int calls = 0;
  const char* first = getenv("TEST_FALLOCATE");
  if (first != NULL && ++calls >= atoi(first)) return ENOSPC;
  return fallocate(file, 0, offset, bytes) == 0 ? 0 : errno;
}

static long copy(long call, pid_t process, const struct iovec* here, unsigned long parts,
                 const struct iovec* there, unsigned long parts_there, unsigned long flags) {
  static int calls = 0;
  const char* every = getenv("TEST_COPIES");
  char* error = NULL;
  if (every != NULL && ++calls % strtol(every, &error, 10) == 0) {
    errno = atoi(error + 1);
    return -1;
  }
  return syscall(call, process, here, parts, there, parts_there, flags);
}

ssize_t process_vm_readv(pid_t process, const struct iovec* here, unsigned long parts,
                         const struct iovec* there, unsigned long parts_there,
                         unsigned long flags) {
  return copy(SYS_process_vm_readv, process, here, parts, there, parts_there, flags);
}

ssize_t process_vm_writev(pid_t process, const struct iovec* here, unsigned long parts,
                          const struct iovec* there, unsigned long parts_there,
                          unsigned long flags) {
  return copy(SYS_process_vm_writev, process, here, parts, there, parts_there, flags);
}

int getrlimit(__rlimit_resource_t resource, struct rlimit* limit) {
  const char* limited = getenv("TEST_LIMIT");
  if (limited != NULL && atoi(limited) == (int)resource) {
    limit->rlim_cur = limit->rlim_max = 1;
    return 0;
  }
  return prlimit(0, resource, NULL, limit);
}
