"""Checks symbol graphs: every public symbol has a comment, which describes its parameters and the errors that it throws.

An initializer may say "Each parameter sets the property of the same name." in place of a description of each. Comments that a witness
inherits from its protocol count, and what a compiler makes up doesn't.
"""

import json
import re
import sys

FUNCTIONS = {"swift.init", "swift.method", "swift.type.method", "swift.func", "swift.subscript", "swift.type.subscript"}
# Requirements of the standard library, whose parameters everybody knows.
KNOWN = re.compile(
    r"^(hash\(into:\)|encode\(to:\)|init\(from:\)|next\(isolation:\)|init\((raw|string|array|dictionary|integer)\w*:\))$")
SETTERS = "Each parameter sets the property of the same name."


def declared(text):
    """The parameters that a comment describes."""
    lists = re.findall(r"^\s*- parameters?:\s*\n((?:\s+.*\n?)+)", text, re.M | re.I)
    named = re.findall(r"^\s*- parameter\s+(\w+)\s*:", text, re.M | re.I)
    return set(named) | {name for block in lists for name in re.findall(r"^\s+- (\w+):", block, re.M)}


def throws(symbol):
    """True if the function itself throws, and not only a closure that it takes."""
    text = "".join(part["spelling"] for part in symbol["declarationFragments"])
    end, depth = text.find("("), 0
    while 0 <= end < len(text):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
        if depth == 0:
            break
    return re.match(r"\s*(async\s+)?throws\b", text[end:]) is not None


def is_inherited(symbol):
    """True if the comment is that of a requirement, somewhere else in the sources."""
    comment, place = symbol["docComment"], symbol["location"]
    if comment.get("uri") and comment["uri"] != place["uri"]:
        return True
    ranges = [line["range"] for line in comment["lines"] if "range" in line]
    return not ranges or not 0 <= place["position"]["line"] - ranges[-1]["end"]["line"] <= 4


def findings(symbol):
    if "docComment" not in symbol:
        yield "has no comment"
        return
    text = "\n".join(line["text"] for line in symbol["docComment"]["lines"])
    name = symbol["pathComponents"][-1]
    is_operator = not re.match(r"\w", name)
    if symbol["kind"]["identifier"] not in FUNCTIONS or KNOWN.match(name) or is_operator or is_inherited(symbol):
        return
    described = declared(text)
    for parameter in symbol.get("functionSignature", {}).get("parameters", []):
        inner = parameter.get("internalName") or parameter["name"]
        if inner != "_" and inner not in described and SETTERS not in text:
            yield f"does not describe its parameter {inner}"
    if throws(symbol) and not re.search(r"- Throws:", text):
        yield "does not say what it throws"


def main(paths):
    count, missing, seen = 0, [], set()
    for path in paths:
        with open(path, encoding="utf-8") as file:
            graph = json.load(file)
        for symbol in graph["symbols"]:
            identifier = symbol["identifier"]["precise"]
            if identifier in seen or "::SYNTHESIZED::" in identifier or "location" not in symbol:
                continue
            seen.add(identifier)
            if symbol["kind"]["identifier"] == "swift.extension":
                continue
            count += 1
            place = f"{symbol['location']['uri'].removeprefix('file://')}:{symbol['location']['position']['line'] + 1}"
            missing += [f"{place}: {'.'.join(symbol['pathComponents'])} {finding}" for finding in findings(symbol)]
    for line in missing:
        print(line, file=sys.stderr)
    print(f"{count} public symbols, {len(missing)} findings")
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
