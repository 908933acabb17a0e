"""python3 -m torc_convert FORMAT FILE >OUTPUT: files of other systems as files that torc reads.

  sccl    an SCCL algorithm as MSCCL XML: torc import OUTPUT
  mscclpp an MSCCL++ execution plan as MSCCL XML: torc import OUTPUT
  tacos   a TACOS result as MSCCL XML: torc import OUTPUT --graph FILE
  astra   a network.yml of ASTRA-sim as a machine in JSON: --machine OUTPUT
  simgrid a platform of SimGrid as a machine in JSON: --machine OUTPUT

FILE is - for stdin. Steps name their lines in FILE, so that faults that torc finds do. In a checkout: python3 tools/convert.
"""
import importlib
import json
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.dirname(here)]  # the formats, and torc.py beside this folder
import places

FORMATS = ("sccl", "mscclpp", "tacos", "astra", "simgrid")


def main(arguments):
    if len(arguments) != 2 or arguments[0] not in FORMATS:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    name, path = arguments
    try:
        with open(0 if path == "-" else path, encoding="utf-8-sig", errors="replace") as file:
            text = file.read()
        converted = importlib.import_module(name).convert(text, "<stdin>" if path == "-" else path)
    except (OSError, places.Fault) as fault:
        print(fault, file=sys.stderr)
        return 1
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    if isinstance(converted, dict):
        name = os.path.splitext(os.path.basename(path))[0]
        print(json.dumps({"name": name if name != "-" else "machine", **converted}, indent=2))
    else:
        sys.stdout.writelines(converted.xml_lines())
    return 0


sys.exit(main(sys.argv[1:]))
