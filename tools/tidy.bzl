"""What clang-tidy says of sources, by the checks of .clang-tidy.

tools/tidy.sh applies it to all sources.

Each translation unit is an action of its own: sources that are unchanged are not read again.
"""

def _tidy_impl(target, ctx):
    if CcInfo not in target or target.label.workspace_name or getattr(ctx.rule.attr, "testonly", False):
        return []
    context = target[CcInfo].compilation_context
    flags = ctx.fragments.cpp.cxxopts + ["-Wno-everything"]
    for option, values in [
        ("-D", context.defines.to_list() + context.local_defines.to_list()),
        ("-iquote", context.quote_includes.to_list()),
        ("-isystem", context.system_includes.to_list()),
        ("-I", context.includes.to_list()),
    ]:
        flags += [option + value for value in values]
    reports = []
    for source in getattr(ctx.rule.files, "srcs", []):
        if source.extension != "cc":
            continue
        report = ctx.actions.declare_file("%s.%s.tidy" % (target.label.name, source.basename))
        ctx.actions.run_shell(
            inputs = depset([source, ctx.file._checks], transitive = [context.headers]),
            outputs = [report],
            arguments = [report.path, source.path] + flags,
            # The number of warnings in other headers goes to standard error.
            command = 'report=$1; shift; clang-tidy-19 --quiet "$1" -- "${@:2}" >"$report" 2>/dev/null || { cat "$report"; exit 1; }',
            execution_requirements = {"no-sandbox": "1"},
            mnemonic = "Tidy",
            progress_message = "Reading %s" % source.short_path,
            use_default_shell_env = True,
        )
        reports.append(report)
    return [OutputGroupInfo(tidy = depset(reports))]

tidy = aspect(
    implementation = _tidy_impl,
    fragments = ["cpp"],
    attrs = {"_checks": attr.label(default = "//:.clang-tidy", allow_single_file = True)},
)
