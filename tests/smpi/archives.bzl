"""The archives of libraries."""

def _archives_impl(ctx):
    return [DefaultInfo(files = depset([
        library.pic_static_library or library.static_library
        for dep in ctx.attr.deps
        for input in dep[CcInfo].linking_context.linker_inputs.to_list()
        for library in input.libraries
        if input.owner.package.split("/")[0] in ctx.attr.rooms
    ]))]

archives = rule(
    doc = "The archives that `deps` consist of, for a linker that is not Bazel's.",
    implementation = _archives_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo], mandatory = True),
        "rooms": attr.string_list(doc = "The top-level folders whose archives they are.", mandatory = True),
    },
)
