/* Preloaded into the ranks of tests: MPICH's waiting ranks sleep.

   MPICH over UCX spins while it waits. Where ranks outnumber cores, each rank then waits until others
   have used up their turns: an allreduce of one integer takes 4 ranks on 2 cores 10 ms, and 0.1 ms
   with this library. To yield alone is not enough: beside a program that computes, who yields is soon
   back on the core. The function stands before UCX's of the same name, and changes nothing else. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <time.h>

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*ucx)(void*);
  static _Thread_local int fruitless; /* calls in a row */
  unsigned (*progress)(void*) = __atomic_load_n(&ucx, __ATOMIC_RELAXED);
  if (!progress) {
    progress = (unsigned (*)(void*))dlsym(RTLD_NEXT, "ucp_worker_progress");
    __atomic_store_n(&ucx, progress, __ATOMIC_RELAXED);
  }
  const unsigned events = progress(worker);
  fruitless = events ? 0 : fruitless + 1;
  if (fruitless > 80) {
    const struct timespec shortest = {0, 1000}; /* 50 us, by the kernel's timer slack */
    nanosleep(&shortest, NULL);
    fruitless = 80;
  } else if (fruitless > 40) {
    sched_yield();
  }
  return events;
}
