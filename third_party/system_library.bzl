"""Libraries of the system, where Debian 12 has them or where a variable says."""

_VARIABLES = ["TORC_LLVM", "TORC_MPICH", "TORC_OPENMPI", "TORC_OPENBLAS"]

def _system_library_impl(ctx):
    folder = ctx.path(ctx.os.environ.get(ctx.attr.variable, "") or ctx.attr.path)

    # Of some only the compiler needs to know where they are.
    if folder.exists:
        for entry in folder.readdir():
            ctx.symlink(entry, entry.basename)
    elif ctx.attr.variable:
        fail("%s is not there: bazel build --repo_env=%s=FOLDER" % (folder, ctx.attr.variable))
    ctx.symlink(ctx.attr.build_file, "BUILD.bazel")

system_library = repository_rule(
    implementation = _system_library_impl,
    attrs = {
        "build_file": attr.label(mandatory = True),
        "path": attr.string(mandatory = True),
        "variable": attr.string(values = [""] + _VARIABLES),
    },
    environ = _VARIABLES,
    local = True,
)
