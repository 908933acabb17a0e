"""What the formats share: faults with their place, JSON whose values know their lines, limits."""
import bisect
import collections
import json
import re

RANKS, CHUNKS, STEPS = 65536, 1 << 20, 4000000  # that `torc import` takes, at most
DIMENSIONS, NODES = 7, (1 << 31) - 1            # of a machine
BANDWIDTH, SECONDS = (1, 1e18), (0, 1000)       # lowest and highest
NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
DEEPEST = 16  # JSON of these formats has far fewer

Value = collections.namedtuple("Value", "of line")  # of: a list or dictionary of Values, or a scalar


class Fault(Exception):
    def __init__(self, origin, line, what):
        super().__init__(f"{origin}:{line}: error: {what}")


def shown(text):
    """What somebody wrote, for a message: in quotes, cut if long, printable."""
    text = str(text)
    return "'" + "".join(c if c.isprintable() else "?" for c in text[:40]) + ("..." if len(text) > 40 else "") + "'"


def integer(text, what, lowest, highest, refuse):
    """The number of a field; `refuse` raises."""
    if not re.fullmatch(r"\s*-?[0-9]{1,18}\s*", text) or not lowest <= int(text) <= highest:
        refuse(f"{what} is {shown(text)}; allowed: {lowest} to {highest}")
    return int(text)


class Json(json.JSONDecoder):
    """A text as Values. The methods take members of objects, or raise a Fault at their line. The elements of the root's array
    `streamed` are handed to `take` one by one, and are not kept."""

    def __init__(self, text, origin, streamed=None, take=None):
        super().__init__(parse_int=lambda digits: int(digits) if len(digits) < 19 else float(digits))
        self.origin, self.text = origin, text
        self._streamed, self._take = re.compile(rf'"{streamed}"\s*:\s*$'), take
        self._scalar, self.scan_once = self.scan_once, self._scan
        self._ends = [match.start() for match in re.finditer("\n", text)]
        self._depth = 0
        try:
            self.root = self.decode(text)
        except json.JSONDecodeError as error:
            self.refuse(error.lineno, f"no JSON: {error.msg}")

    def refuse(self, line, what):
        raise Fault(self.origin, line, what)

    def _scan(self, text, at):
        line = bisect.bisect_left(self._ends, at) + 1
        opening = text[at:at + 1]
        if opening not in ("[", "{"):
            value, end = self._scalar(text, at)
            return Value(value, line), end
        if self._depth == DEEPEST:
            self.refuse(line, "is nested too deeply")
        streams = self._take and self._depth == 1 and self._streamed.search(text[max(at - 99, 0):at])
        self._depth += 1
        value, end = (self.parse_array((text, at + 1), self._scan_streamed if streams else self._scan) if opening == "[" else
                      self.parse_object((text, at + 1), True, self._scan, None, self._object, {}))
        self._depth -= 1
        return Value(value, line), end

    def _scan_streamed(self, text, at):
        value, end = self._scan(text, at)
        self._take(value)
        return Value(None, value.line), end

    def _object(self, pairs):
        members = {}
        for key, value in pairs:
            if key in members:
                self.refuse(value.line, f"key {shown(key)} occurs twice")
            members[key] = value
        return members

    def member(self, value, key):
        if not isinstance(value.of, dict):
            self.refuse(value.line, f"has no object here, whose '{key}' is wanted")
        if key not in value.of:
            self.refuse(value.line, f"has no key '{key}' here")
        return value.of[key]

    def elements(self, value, key):
        found = self.member(value, key)
        if not isinstance(found.of, list):
            self.refuse(found.line, f"'{key}' is no array")
        return found.of

    def whole(self, value, what, lowest, highest):
        if type(value.of) is not int:
            self.refuse(value.line, f"{what} is no whole number; allowed: {lowest} to {highest}")
        if not lowest <= value.of <= highest:
            self.refuse(value.line, f"{what} is {value.of}; allowed: {lowest} to {highest}")
        return value.of

    def number(self, value, key, lowest, highest):
        return self.whole(self.member(value, key), f"'{key}'", lowest, highest)
