"""A list of MSCCL++ plans on stdin: of each the MSCCL XML, or the fault, in a list on stdout."""
import json
import sys

sys.path[:0] = ["tools/convert", "tools"]
import mscclpp
import places


def converted(plan):
    try:
        return "".join(mscclpp.convert(json.dumps(plan), "plan").xml_lines())
    except places.Fault as fault:
        return str(fault)


print(json.dumps([converted(plan) for plan in json.load(sys.stdin)]))
