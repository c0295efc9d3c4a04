"""The public declarations of the library, as its sources have them.

    declarations.py                     checks their number against scripts/lib/declarations.tsv
    declarations.py --tighten           lowers the numbers there to those of the sources
    declarations.py --list [COMMIT]     prints them, those of a commit too
"""

import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMITS = ROOT / "scripts/lib/declarations.tsv"
# What `import Tintype` brings; the widgets and the tools of tests are products of their own.
TARGETS = ("Tintype", "TintypeImages", "TintypeCodecs", "TintypeCaching", "TintypeLoading", "TintypeDisplay", "TintypeHTTP",
           "TintypeIsolation")
TYPE = re.compile(r"\b(?:struct|class|enum|actor|protocol|typealias) ")
PUBLIC = re.compile(r"^\s*(?:@\w+(?:\([^)]*\))? )*(?:nonisolated(?:\(\w+\))? )?(?:public (?!import |extension )|open (?:class|func|var) )")
SCOPE = re.compile(r"^\s*(?:@\w+(?:\([^)]*\))? )*(?:public |open |package |private |fileprivate |internal )?(?:final |indirect )*"
                   r"(?:struct|class|enum|actor|protocol|extension) ([\w.]+)")


def sources(target, commit):
    if commit is None:
        for path in sorted((ROOT / "Sources" / target).rglob("*.swift")):
            yield path.read_text(encoding="utf-8")
        return
    names = subprocess.run(["git", "-C", str(ROOT), "ls-tree", "-r", "--name-only", commit, "Sources/" + target],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    for name in names:
        if name.endswith(".swift"):
            yield subprocess.run(["git", "-C", str(ROOT), "show", f"{commit}:{name}"], capture_output=True, text=True,
                                 check=True).stdout


def declarations(text):
    """Each declaration with the types around it, up to its body."""
    scopes, depth = [], 0
    lines = [re.sub(r'"(?:[^"\\]|\\.)*"', '""', line.split("//")[0]) for line in text.split("\n")]
    for number, code in enumerate(lines):
        if PUBLIC.match(code):
            words, more = code.strip(), number + 1
            # A list of parameters may take several lines.
            while words.count("(") > words.count(")") and more < len(lines):
                words, more = words + " " + lines[more].strip(), more + 1
            words = words.replace("( ", "(").replace(" )", ")").split(" {")[0]
            # A value, but not that of a parameter.
            if "(" not in words.split(" = ")[0]:
                words = words.split(" = ")[0]
            yield ".".join(name for _, name in scopes), words, bool(TYPE.search(words.split("(")[0]))
        scope = SCOPE.match(code)
        if scope and "{" in code:
            scopes.append((depth, scope.group(1)))
        depth += code.count("{") - code.count("}")
        while scopes and depth <= scopes[-1][0]:
            scopes.pop()


def counts():
    numbers = collections.Counter()
    for target in TARGETS:
        for text in sources(target, None):
            for _, _, is_type in declarations(text):
                numbers["declarations"] += 1
                numbers["types"] += is_type
    return numbers


def main(arguments):
    if arguments[:1] == ["--list"]:
        for target in TARGETS:
            for text in sources(target, arguments[1] if len(arguments) > 1 else None):
                for scope, words, _ in declarations(text):
                    print(f"{target}: {scope + ': ' if scope else ''}{words}")
        return 0
    numbers = counts()
    limits = dict(line.split("\t") for line in LIMITS.read_text().splitlines() if line and not line.startswith("#"))
    if arguments[:1] == ["--tighten"]:
        comment = LIMITS.read_text().split("\n", 1)[0]
        rows = [f"{kind}\t{min(int(limits[kind]), numbers[kind])}" for kind in limits]
        LIMITS.write_text("\n".join([comment, *rows]) + "\n")
        return 0
    status = 0
    for kind, limit in limits.items():
        if numbers[kind] > int(limit):
            print(f"{numbers[kind]} public {kind}, more than the {limit} of {LIMITS.relative_to(ROOT)}: hide one, or say in its commit why "
                  "users need it", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
