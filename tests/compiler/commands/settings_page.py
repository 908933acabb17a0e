#!/usr/bin/env python3
"""docs/users/settings.md has a row for every variable of `torc info`, and names no other: settings_page.py TORC PAGE"""
import json, re, subprocess, sys

torc, page = sys.argv[1:]
with open(page) as file:
    text = file.read()
variables = json.loads(subprocess.check_output([torc, "info", "--json"]))["settings"]
faults = [] if len(variables) > 10 else [f"torc info printed {len(variables)} variables only"]
for of in variables:
    default = f"`{of['default']}` " if of["default"] else ""
    values = of["values"].replace("|", "\\|")
    row = f"| `{of['name']}={values}` | {default}| {'alike' if of['agreed'] else 'rank 0'} | "
    faults += [] if row in text else [f"there is no row '{row}'"]
# The page may give an example of a name that is none.
names = {of["name"] for of in variables} | {"TORC_", "TORC_LIBARY"}
faults += [f"{name} is no variable" for name in sorted(set(re.findall("TORC_[A-Z_]+", text)) - names)]
sys.exit("\n".join(f"{page}: {fault}" for fault in faults) or None)
