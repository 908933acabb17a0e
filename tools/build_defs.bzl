"""Rules of this repository: C++ targets, shared and schedule libraries, property, MPI, text and fuzz tests.

The includes of a target are written from the workspace root: #include "schedules/box.h".
"""

load("//tools:unity.bzl", "unity_source")
load("//tools:which_mpi.bzl", "built_once", "mpi_script_test")

def _opt_copts(level = "-O3"):
    return select({
        "//:opt_build": [level],
        "//conditions:default": [],
    })

_OPT_COPTS = _opt_copts()

def _precompiled(srcs, deps, level = "-O3"):
    """Options and dependencies that let C++ read common headers precompiled: those of a test, or the standard library's."""
    if any([source.endswith(".c") for source in srcs]):
        return [], []
    if "@rapidcheck" in deps:
        name = "rapidcheck"
    elif "@gtest" in deps or "@gtest//:gtest_main" in deps:
        name = "gtest"
    elif native.package_name().split("/")[0] in ["tests", "studies"] or level == "-O1":
        name = "standard_O1"
    else:
        name = "standard"
    copts = ["-include", "tools/precompiled/%s.h" % name]
    if name.startswith("standard"):
        # Sources that are compiled one by one show missing includes. g++ 12 falsely reports endless copies
        # inside std::string where the header is precompiled (PR 105329).
        copts = select({
            "//:separate_build": [],
            "//conditions:default": copts + ["-Wno-array-bounds", "-Wno-stringop-overflow"],
        })
    return copts, ["//tools/precompiled:%s_once" % name]

# Rooms without MPI that the runtime depends on.
ROOMS_WITHOUT_MPI = ["schedules", "settings", "support", "trace"]

def torc_cc_library(name, srcs = [], more_srcs = [], copts = [], deps = [], optimize = "-O3", knows_mpi = None, visibility = None, **kwargs):
    """cc_library that `-c opt` compiles with `optimize`; `srcs` are compiled as one (unity.bzl), `more_srcs` not.

    A library of the runtime without MPI (`knows_mpi = False`) is compiled once for all MPIs.
    """
    include, precompiled = _precompiled(srcs, deps, optimize)
    unity = unity_source(name, srcs)
    if knows_mpi == None:
        knows_mpi = native.package_name().split("/")[0] not in ROOMS_WITHOUT_MPI
    if not knows_mpi:
        built_once(name = name, library = ":%s_built" % name, visibility = visibility)
        visibility = ["//visibility:private"]
    native.cc_library(
        name = name if knows_mpi else name + "_built",
        srcs = unity.srcs + more_srcs,
        textual_hdrs = unity.included,
        copts = copts + _opt_copts(optimize) + include + unity.copts,
        deps = deps + precompiled,
        visibility = visibility,
        **kwargs
    )

def _unity_of_program(name, srcs):
    """`unity_source` of a program, with a library to depend on: a program includes no headers of its own."""
    unity = unity_source(name, srcs)
    if not unity.included:
        return unity.srcs, [], []
    native.cc_library(name = name + "_sources", textual_hdrs = unity.included)
    return unity.srcs, unity.copts, [":%s_sources" % name]

def torc_cc_binary(name, srcs, copts = [], deps = [], optimize = "-O3", **kwargs):
    """cc_binary that `-c opt` compiles with `optimize`; its sources are compiled as one."""
    include, precompiled = _precompiled(srcs, deps, optimize)
    unity_srcs, unity_copts, unity_deps = _unity_of_program(name, srcs)
    native.cc_binary(
        name = name,
        srcs = unity_srcs,
        copts = copts + _opt_copts(optimize) + include + unity_copts,
        deps = deps + precompiled + unity_deps,
        **kwargs
    )

def torc_shared_library(name, soname, version_script, deps, linkopts = [], **kwargs):
    """A shared library for other people's programs: exports what its version script names.

    The C++ library is linked in and hidden. The program may bring another (older, or patched) one:
    neither then sees the other's symbols, operator new included, and a C or Fortran program loads
    none. The unwinder (libgcc_s) stays shared, as one process must have one. The library is never
    unloaded: MPI and exiting threads hold pointers into it.

    Args:
      name: file name, "libNAME.so".
      soname: the name that programs linked with it look for: with the version of the interface.
      version_script: for the linker; one node, `local: *`.
      deps: libraries; those that define what is exported are `alwayslink`.
      linkopts: further linker options.
      **kwargs: passed to cc_binary.
    """
    native.cc_binary(
        name = name,
        linkshared = True,
        additional_linker_inputs = [version_script],
        linkopts = linkopts + [
            "-Wl,-soname," + soname,
            "-Wl,--version-script=$(location %s)" % version_script,
            "-Wl,-z,nodelete",
            # gold exports the names of thread-local variables from the library.
            "-fuse-ld=bfd",
            "-l:libstdc++.a",
            # Bazel's own -lstdc++ follows, and is no longer needed.
            "-Wl,--as-needed",
        ],
        # Not supported by bfd.
        features = ["-supports_start_end_lib"],
        deps = deps + ["//support:older_glibc"],
        **kwargs
    )

def torc_cc_test(name, srcs, copts = [], deps = [], **kwargs):
    """GoogleTest test; its sources are compiled as one. The library and its main() are added to deps."""
    include, precompiled = _precompiled(srcs, deps + ["@gtest//:gtest_main"])
    unity_srcs, unity_copts, unity_deps = _unity_of_program(name, srcs)
    native.cc_test(
        name = name,
        srcs = unity_srcs,
        copts = copts + _OPT_COPTS + include + unity_copts,
        deps = deps + ["@gtest//:gtest_main"] + precompiled + unity_deps,
        **kwargs
    )

def property_test(name, cases, deps = [], **kwargs):
    """GoogleTest test of properties by RapidCheck: the same cases in every run.

    Other cases, and more: RC_PARAMS="seed=7 max_success=100000" bazel-bin/tests/properties/agreement_test

    Args:
      name: name of the test.
      cases: how many random cases each property is tried on; under a sanitizer a tenth of them.
      deps: the libraries under test; RapidCheck is added.
      **kwargs: passed to torc_cc_test.
    """
    torc_cc_test(
        name = name,
        env = select({
            "//:sanitizer_build": {"RC_PARAMS": "seed=1 max_success=%d" % max(1, cases // 10)},
            "//conditions:default": {"RC_PARAMS": "seed=1 max_success=%d" % cases},
        }),
        deps = deps + ["@rapidcheck"],
        **kwargs
    )

def mpi_program(src, deps = [], name = None, **kwargs):
    """The program, in C or C++, of one source that uses MPI; its name is the source's unless told."""
    torc_cc_binary(
        name = name or src.split(".")[0],
        srcs = [src],
        deps = deps + ["//third_party:mpi"],
        **kwargs
    )

def mpi_test(name, binary, ranks, args = [], data = [], preload = None, **kwargs):
    """Runs `mpiexec.hydra -n RANKS BINARY ARGS`; passes when every rank exits with 0.

    Ranks may outnumber the cores. A program that hangs is ended shortly before Bazel's own limit.

    Args:
      name: name of the test.
      binary: label of the program, a cc_binary that depends on //third_party:mpi.
      ranks: number of MPI processes.
      args: its arguments; $(rootpath LABEL) names a file of `data`.
      data: files that the program reads.
      preload: label of a shared library that the ranks, not mpiexec, are started with:
        "//runtime:libtorc_pmpi.so".
      **kwargs: passed to mpi_script_test; among them `env`, which every rank inherits, and `openmpi`:
        whether the test runs on Open MPI, too.
    """
    mpi_script_test(
        "//tools:mpi_test.sh",
        (["--preload=$(rootpath %s)" % preload] if preload else []) + [str(ranks), binary] + args,
        name = name,
        data = data + ([preload] if preload else []),
        tags = ["one-rank"] if ranks == 1 else [],
        **kwargs
    )

def mpi_gtests(name, srcs, ranks, deps = [], **kwargs):
    """A program of GoogleTest and MPI, and for each number in `ranks` a test, NAME_RANKS."""
    torc_cc_binary(
        name = name,
        srcs = srcs,
        deps = deps + ["@gtest//:gtest_main", "//third_party:mpi"],
    )
    for number in ranks:
        mpi_test(name = "%s_%d" % (name, number), binary = ":" + name, ranks = number, **kwargs)

def _schedule_library_impl(ctx):
    folder = ctx.actions.declare_directory(ctx.attr.name)
    ctx.actions.run(
        executable = ctx.executable.torc,
        arguments = ["library", "build", "--quiet", "-o", folder.path] + ctx.attr.options,
        outputs = [folder],
        mnemonic = "ScheduleLibrary",
    )
    return [DefaultInfo(files = depset([folder]), runfiles = ctx.runfiles([folder]))]

schedule_library = rule(
    doc = "A schedule library: a folder, which $(rootpath LABEL) names, made by `torc library build`.",
    implementation = _schedule_library_impl,
    attrs = {
        "options": attr.string_list(doc = "Of `torc library build`: --partition=2x2, ..."),
        "torc": attr.label(
            default = "//compiler:torc",
            executable = True,
            cfg = "target",
        ),
    },
)

def file_check_test(
        srcs,
        name = "file_check",
        tools = ["//compiler:torc"],
        data = [],
        **kwargs):
    """Runs the `// RUN:` lines of text files, in the manner of LLVM's lit: each file is a case.

    In a RUN line %s is the file, %S its folder, %t a scratch path of its own, and %NAME the program NAME
    of `tools`: %torc. %errors compares errors with those that the file states. FileCheck, not and
    split-file are LLVM's. See tests/file_check.sh.

    Args:
      srcs: the files.
      name: name of the test.
      tools: labels of the programs.
      data: other files that the RUN lines name, by path from the workspace root.
      **kwargs: passed to sh_test.
    """
    native.sh_test(
        name = name,
        srcs = ["//tests:file_check.sh"],
        args = ["$(rootpath %s)" % label for label in srcs] + ["--"] +
               ["$(rootpath %s)" % label for label in tools],
        data = srcs + ["//tests:expected_errors.sh"] + tools + data,
        **kwargs
    )

def fuzz_test(name, srcs, deps = [], corpus = [], copts = [], **kwargs):
    """A libFuzzer target, of the tag "fuzz": srcs define LLVMFuzzerTestOneInput(const uint8_t*, size_t).

    As a test it replays `corpus` with the ordinary compiler. To search for faults:
    tools/test.sh --fuzz MINUTES, or
    bazel run --config=fuzz //PACKAGE:NAME -- -max_total_time=60 [FOLDER for new inputs]

    Args:
      name: name of the test.
      srcs: the sources of the target.
      deps: the libraries under test.
      corpus: input files.
      copts: compiler options.
      **kwargs: passed to cc_test.
    """
    inputs = ["$(rootpath %s)" % file for file in corpus]
    native.cc_test(
        name = name,
        srcs = srcs,
        args = select({
            "//:fuzz_build": ["-seed_inputs=" + ",".join(inputs)] if inputs else [],
            "//conditions:default": inputs,
        }),
        copts = copts + _OPT_COPTS,
        data = corpus,
        linkopts = select({
            "//:fuzz_build": ["-fsanitize=fuzzer"],
            "//conditions:default": [],
        }),
        tags = ["fuzz"],
        deps = deps + select({
            "//:fuzz_build": [],
            "//conditions:default": ["//tools:fuzz_replay"],
        }),
        **kwargs
    )
