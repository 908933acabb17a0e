"""One translation unit for all sources of a library: the headers that they share are read once.

//runtime/pmpi:engine takes a fifth of the time so. `bazel build --config=separate` compiles each source by
itself, which also shows whether each includes what it needs.
"""

def _unity_file_impl(ctx):
    unity = ctx.actions.declare_file(ctx.label.name + ".cc")
    ctx.actions.write(unity, "".join(["#include \"%s\"\n" % file.short_path for file in ctx.files.srcs]))
    return [DefaultInfo(files = depset([unity]))]

_unity_file = rule(
    implementation = _unity_file_impl,
    attrs = {"srcs": attr.label_list(allow_files = [".cc"], mandatory = True)},
)

def unity_source(name, srcs):
    """What a library called `name` compiles and includes instead of compiling each of `srcs`.

    Args:
      name: of the library.
      srcs: its sources, and headers of its own.

    Returns:
      srcs: what it compiles, and its own headers.
      included: the sources that are read as headers.
      copts: options for that.
    """
    sources = [source for source in srcs if source.endswith(".cc")]
    if len(sources) < 2:
        return struct(srcs = srcs, included = [], copts = [])
    _unity_file(name = name + "_unity", srcs = sources)
    headers = [source for source in srcs if not source.endswith(".cc")]
    return struct(
        srcs = select({
            "//:separate_build": srcs,
            "//conditions:default": headers + [":%s_unity" % name],
        }),
        included = select({
            "//:separate_build": [],
            "//conditions:default": sources,
        }),
        # g++ treats a source's internal names as those of a header.
        copts = ["-Wno-subobject-linkage"],
    )
