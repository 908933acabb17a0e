"""Targets that are built with Open MPI, beside the same ones with MPICH."""

MPIS = ["mpich", "openmpi"]

# The tests that run on Open MPI whenever all tests do: each way to use torc, and each part of the
# preloaded library, once. The others do with `tools/test.sh --openmpi`.
ALWAYS_ON_OPENMPI = [
    "tests/install:install_test",
    "tests/mpi:job_test_2",
    "tests/mpi:job_test_4",
    "tests/runtime/dedicated:every_collective_half_4",
    "tests/runtime/pmpi/alike:receives_test",
    "tests/runtime/pmpi/alike:waits_calls_test",
    "tests/runtime/pmpi/conformance:all_2",
    "tests/runtime/pmpi/conformance:tuned_2",
    "tests/runtime/pmpi/conformance:threads_progress_thread_2",
    "tests/runtime/pmpi/programs:random_programs_test_tuned_2",
    "tests/runtime/pmpi/stress:pending_2",
    "tests/runtime/pmpi:served_test_fortran08_2x2",
    "tests/runtime/run:replays_6",
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

def mpi_sh_test(name, args, data, built, openmpi = False, env = {}, tags = [], **kwargs):
    """An sh_test that starts MPI ranks; on Open MPI another one beside it, NAME_openmpi.

    The test starts them by //tools:mpiexec.sh, which the environment variable TEST_MPI tells the MPI.

    Args:
      name: name of the test.
      args: arguments; $(rootpath LABEL) names a file of `data` or `built`.
      data: files that are the same on every MPI.
      built: labels of what is built with MPI: //runtime:..., or of the same package.
      openmpi: whether there is a test on Open MPI; "manual": one that runs only by its name.
      env: variables, which every rank inherits.
      tags: further tags.
      **kwargs: passed to sh_test.
    """
    for mpi in MPIS if openmpi else ["mpich"]:
        own_args = args
        own_built = built
        own_tags = tags
        if mpi == "openmpi":
            own_tags = tags + (["manual"] if openmpi == "manual" else [])
            if "%s:%s" % (native.package_name(), name) not in ALWAYS_ON_OPENMPI:
                own_tags = own_tags + ["more-openmpi"]
            own_built = [with_openmpi(label) for label in built]
            for label in built:
                own_args = [
                    arg.replace("$(rootpath %s)" % label, "$(rootpath %s)" % with_openmpi(label))
                    for arg in own_args
                ]
        native.sh_test(
            name = name if mpi == "mpich" else name + "_openmpi",
            args = own_args,
            data = data + own_built + ["//tools:mpiexec.sh"] + select({
                "//:sanitizer_build": [],
                "//conditions:default": ["//tools:libsleeping_waits.so"],
            }),
            env = dict(env, TEST_MPI = mpi),
            # Open MPI's waiting ranks yield, but do not sleep: one such test at a time.
            tags = own_tags + ["mpi"] + (["cpu:2"] if mpi == "openmpi" else []),
            **kwargs
        )
