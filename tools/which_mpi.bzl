"""Targets that are built with Open MPI, beside the same ones with MPICH."""

MPIS = ["mpich", "openmpi"]

# The tests that always run on Open MPI, too: each way to use torc, and each part of the preloaded
# library, once. The others run with `tools/test.sh --more`.
ALWAYS_ON_OPENMPI = [
    "tests/install:install_test",
    "tests/runtime/dedicated:every_collective_half_4",
    "tests/runtime/pmpi/alike:receives_test",
    "tests/runtime/pmpi/alike:waits_calls_test",
    "tests/runtime/pmpi/alike:waits_threads_test",
    "tests/runtime/pmpi/conformance:all_2",
    "tests/runtime/pmpi/conformance:progress_thread_2",
    "tests/runtime/pmpi/programs:random_programs_test_tuned_2",
    "tests/runtime/pmpi/stress:pending_2",
    "tests/runtime/pmpi:served_test_fortran08_2x2",
    "tests/runtime/run:replays_6",
]

# The tests that repeat others on another number of ranks. On MPICH they run with `tools/test.sh --more`.
REPEATS = [
    "tests/runtime/pmpi/conformance:all_6",
    "tests/runtime/pmpi/conformance:all_8",
    "tests/runtime/pmpi/conformance:tuned_4",
    "tests/runtime/pmpi/differences:differences_4",
    "tests/runtime/pmpi/neighbours:neighbours_test_3x2",
    "tests/runtime/pmpi/programs:illegal_programs_test_2",
    "tests/runtime/pmpi/programs:random_programs_test_6",
    "tests/runtime/pmpi/programs:random_programs_test_dedicated_2",
    "tests/runtime/pmpi/programs:random_programs_test_threads_2",
    "tests/runtime/pmpi/programs:random_programs_test_tuned_2",
    "tests/runtime/pmpi/tuning:first_calls_test_4",
    "tests/runtime/pmpi/user_operations:whole_vectors_test_2x2",
]

def _mpi_setting_impl(ctx):
    if ctx.build_setting_value not in MPIS:
        fail("%s is one of %s" % (ctx.label, ", ".join(MPIS)))

mpi_setting = rule(
    doc = "The MPI that //third_party:mpi stands for.",
    implementation = _mpi_setting_impl,
    build_setting = config.string(flag = True),
)

def _choose_openmpi(settings, attr):
    return {"//third_party:which_mpi": "openmpi"}

_with_openmpi = transition(
    implementation = _choose_openmpi,
    inputs = [],
    outputs = ["//third_party:which_mpi"],
)

def _openmpi_build_impl(ctx):
    built = ctx.attr.target[0][DefaultInfo].files_to_run.executable
    link = ctx.actions.declare_file(ctx.attr.file_name or ctx.label.name)
    ctx.actions.symlink(output = link, target_file = built, is_executable = True)
    return [DefaultInfo(
        executable = link,
        files = depset([link]),
        runfiles = ctx.runfiles([link]),
    )]

openmpi_build = rule(
    doc = "A program or shared library, built with Open MPI whatever the rest is built with.",
    implementation = _openmpi_build_impl,
    attrs = {
        "target": attr.label(
            doc = "A cc_binary that depends on //third_party:mpi.",
            mandatory = True,
            cfg = _with_openmpi,
        ),
        "file_name": attr.string(doc = "Of what is built; none: the name of this target."),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
    executable = True,
)

def _built_once_impl(ctx):
    return [ctx.attr.library[CcInfo], ctx.attr.library[DefaultInfo]]

# By .bazelrc the host has the configuration of the command, below openmpi_build as elsewhere.
built_once = rule(
    doc = "A library that knows no MPI, not built anew for Open MPI.",
    implementation = _built_once_impl,
    attrs = {"library": attr.label(mandatory = True, providers = [CcInfo], cfg = "host")},
)

def with_openmpi(label):
    """The label of `label` built with Open MPI: the target is made where a package first asks for it.

    What runtime/ makes has such targets in runtime/openmpi.
    """
    if label.startswith("//runtime:"):
        return label.replace("//runtime:", "//runtime/openmpi:")
    if not label.startswith(":"):
        return label + "_openmpi"
    name = label[1:] + "_openmpi"
    if not native.existing_rule(name):
        # Built for the tests that run, not for its own sake.
        openmpi_build(name = name, target = label, tags = ["manual"])
    return ":" + name

def _is_label(argument):
    return argument[:1] in [":", "@"] or argument.startswith("//")

def script_test(script, args = [], name = None, data = [], **kwargs):
    """Runs a shell or Python script.

    Args:
      script: the file.
      args: its arguments; a label (":program", "//compiler:torc") is built, and stands for its files' paths.
      name: name of the test; none: the script's.
      data: labels of other files that it reads.
      **kwargs: passed to sh_test.
    """
    labels = {argument: None for argument in args if _is_label(argument)}.keys()
    native.sh_test(
        name = name or script.split("/")[-1].split(".")[0],
        srcs = [script],
        args = ["$(rootpaths %s)" % a if _is_label(a) else a for a in args],
        data = labels + ["//tests:checks.sh"] + data,
        **kwargs
    )

def _knows_mpi(label):
    if label.startswith("//runtime:lib") or label == "//runtime:torc-run":
        return True
    rule = native.existing_rule(label[1:]) if label.startswith(":") else None
    return rule != None and "//third_party:mpi" in rule.get("deps", [])

def mpi_script_test(script, args, openmpi = False, name = None, data = [], env = {}, tags = [], **kwargs):
    """A script_test whose script starts MPI ranks; on Open MPI another one beside it, NAME_openmpi.

    The script starts them by //tools:mpiexec.sh, which the environment variable TEST_MPI tells the MPI.
    What knows MPI (of this package: what depends on //third_party:mpi itself) is built with that MPI.

    Args:
      script: the file.
      args: its arguments, as script_test takes them.
      openmpi: whether there is a test on Open MPI; "manual": one that runs only by its name.
      name: name of the test; none: the script's.
      data: labels of other files, of which $(rootpath LABEL) in `args` and `env` are paths.
      env: variables, which every rank inherits.
      tags: further tags.
      **kwargs: passed to sh_test.
    """
    name = name or script.split(".")[0]
    for mpi in MPIS if openmpi else ["mpich"]:
        own_args = args
        own_data = data
        label = "%s:%s" % (native.package_name(), name)
        is_more = label in REPEATS if mpi == "mpich" else label not in ALWAYS_ON_OPENMPI
        own_tags = tags + (["more"] if is_more else [])
        if mpi == "openmpi":
            own_tags = own_tags + (["manual"] if openmpi == "manual" else [])
            own_args = [with_openmpi(a) if _is_label(a) and _knows_mpi(a) else a for a in args]
            for label in [label for label in data if _knows_mpi(label)]:
                own_args = [a.replace("$(rootpath %s)" % label, "$(rootpath %s)" % with_openmpi(label)) for a in own_args]
            own_data = [with_openmpi(label) if _knows_mpi(label) else label for label in data]
        script_test(
            name = name if mpi == "mpich" else name + "_openmpi",
            script = script,
            args = own_args,
            data = own_data + ["//tools:mpi_test.sh", "//tools:mpiexec.sh"] + select({
                "//:sanitizer_build": [],
                "//conditions:default": ["//tools:libsleeping_waits.so"],
            }),
            env = dict(env, TEST_MPI = mpi),
            # Open MPI's waiting ranks yield, but do not sleep: one such test at a time.
            tags = own_tags + ["mpi"] + (["cpu:2"] if mpi == "openmpi" else []),
            **kwargs
        )

def preload_test(script, args, **kwargs):
    """An mpi_script_test whose first argument is libtorc_pmpi.so, for programs that know nothing of torc."""
    mpi_script_test(script, ["//runtime:libtorc_pmpi.so"] + args, **kwargs)
