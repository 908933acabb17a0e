// Annotations of locks: Clang checks them with -Wthread-safety (//tests/tools:thread_safety_test),
// and g++ ignores them. Clang's manual explains them:
// https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
#ifndef TORC_SUPPORT_THREAD_ANNOTATIONS_H_
#define TORC_SUPPORT_THREAD_ANNOTATIONS_H_

#ifdef __clang__
#define TORC_THREAD_ANNOTATION(what) __attribute__((what))
#else
#define TORC_THREAD_ANNOTATION(what)
#endif

#define TORC_CAPABILITY(kind) TORC_THREAD_ANNOTATION(capability(kind))
#define TORC_SCOPED_CAPABILITY TORC_THREAD_ANNOTATION(scoped_lockable)

/// For a variable: only the holder of the lock uses it, or its target.
#define TORC_GUARDED_BY(lock) TORC_THREAD_ANNOTATION(guarded_by(lock))
#define TORC_PT_GUARDED_BY(lock) TORC_THREAD_ANNOTATION(pt_guarded_by(lock))

/// For a function: its caller holds the lock, or does not.
#define TORC_REQUIRES(lock) TORC_THREAD_ANNOTATION(requires_capability(lock))
#define TORC_EXCLUDES(lock) TORC_THREAD_ANNOTATION(locks_excluded(lock))

#define TORC_ACQUIRE(...) TORC_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define TORC_RELEASE(...) TORC_THREAD_ANNOTATION(release_capability(__VA_ARGS__))

/// For a function that Clang cannot follow.
#define TORC_NO_THREAD_SAFETY_ANALYSIS TORC_THREAD_ANNOTATION(no_thread_safety_analysis)

#endif  // TORC_SUPPORT_THREAD_ANNOTATIONS_H_
