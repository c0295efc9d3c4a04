"""The house rules that scripts/lint checks on the text of the repository. Each rule yields (file, line, message)."""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import capabilities
import duplicates
import language
import snippets

LONGEST_FILE = 400
ALLOWANCES = "scripts/lib/lint-allowances.tsv"
C_ENDINGS = {".c", ".h"}


class Tree:
    """The files of a repository: those that git knows, or everything where there is no git."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        listing = subprocess.run(
            ["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"],
            capture_output=True, text=True)
        if listing.returncode == 0:
            names = listing.stdout.splitlines()
            tracked = subprocess.run(["git", "-C", str(root), "ls-files"], capture_output=True, text=True)
            self.tracked = tracked.stdout.splitlines()
        else:
            names = [str(path.relative_to(root)) for path in self.root.rglob("*") if path.is_file()]
            self.tracked = names
        self.names = sorted(name for name in names if (self.root / name).is_file())
        self._lines = {}

    def lines(self, name):
        if name not in self._lines:
            self._lines[name] = (self.root / name).read_text(encoding="utf-8", errors="replace").split("\n")
        return self._lines[name]

    def under(self, folder, *endings):
        for name in self.names:
            if name.startswith(folder + "/") and pathlib.PurePath(name).suffix in endings:
                yield name


def matches(tree, names, expression, message):
    pattern = re.compile(expression)
    for name in names:
        for number, line in enumerate(tree.lines(name), 1):
            if pattern.search(line):
                yield name, number, message


def foundation(tree):
    return matches(tree, tree.under("Sources", ".swift"), r"^\s*((public|internal|private|package) )?import Foundation$",
                   "imports Foundation; the library takes FoundationEssentials")


def promises(tree):
    names = list(tree.under("Sources", ".swift", *C_ENDINGS)) + list(tree.under("Tests", ".swift"))
    names += [name for name in tree.names if name.startswith("scripts/") and "." not in pathlib.PurePath(name).name]
    own = "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"])
    return matches(tree, names, rf"\b({own})\b", "promises code instead of having it")


def forces(tree):
    return matches(tree, tree.under("Sources", ".swift"), r"\btry!|\bfatalError\(",
                   "traps where an error belongs")


def proofs(tree):
    """`@unchecked Sendable` has its proof in a comment of its own: `// Sendable: …` on the line, or on those directly above."""
    claim = re.compile(r"@unchecked Sendable|nonisolated\(unsafe\)")
    proof = re.compile(r"(?<!/)// Sendable: \S")
    for name in tree.under("Sources", ".swift"):
        lines = tree.lines(name)
        for index, line in enumerate(lines):
            code = line.split("//")[0]
            if not claim.search(code) or proof.search(line):
                continue
            above = index - 1
            # Attributes may stand between the comment and the declaration, and the comment may take several lines.
            while above >= 0 and re.match(r"\s*(@\w+(\(.*\))?\s*$|//(?!/))", lines[above]):
                if proof.search(lines[above]):
                    break
                above -= 1
            if above < 0 or not proof.search(lines[above]):
                yield name, index + 1, "has no proof: write `// Sendable: …` on the line or directly above"


def summaries(tree):
    summary = re.compile(r"^\s*/// (What|Who|Whoever|How|Where|Whether)\b")
    for name in tree.under("Sources", ".swift"):
        lines = tree.lines(name)
        for index, line in enumerate(lines):
            word = summary.match(line)
            if word and (index == 0 or not lines[index - 1].lstrip().startswith("///")):
                yield name, index + 1, f"has a summary that begins with {word[1]}; write a noun phrase or a verb"


BRITISH = re.compile(
    r"colour|grey\b|behaviour|honour|favour(?!ite)|neighbour|\bcentre|catalogue|licence"
    r"|(?:recogn|initial|normal|optim|synchron|serial|organ|summar|real|util|minim|maxim)is(?:e|ed|es|ing|ation)\b", re.I)


def spelling(tree):
    for name in tree.under("Sources", ".swift", ".md", *C_ENDINGS):
        is_text = name.endswith(".md")
        for number, line in enumerate(tree.lines(name), 1):
            text = line if is_text else line.partition("//")[2] or (line if line.lstrip().startswith("*") else "")
            word = BRITISH.search(text)
            if word:
                yield name, number, f"spells '{word[0]}' the British way"


def suites(tree):
    for name in tree.under("Tests", ".swift"):
        text = "\n".join(tree.lines(name))
        for suite in re.finditer(r"^\s*@Suite\b", text, re.M):
            head = text[suite.start():text.find("{", suite.start())]
            if ".timeLimited" not in head:
                yield name, text.count("\n", 0, suite.end()) + 1, "has a suite without .timeLimited"
        extends_suite = re.search(r"^(private |fileprivate )?extension \w+Tests\b", text, re.M)
        if re.search(r"^\s*@Test\b", text, re.M) and "@Suite" not in text and not extends_suite:
            yield name, 1, "has tests outside of a suite, which have no time limit"


def titles(tree):
    return matches(tree, tree.under("Tests", ".swift"), r'@(Test|Suite)\("[^"]*\b[A-Z]{2,3}-\d\d',
                   "has an id in a title; write .capability(…)")


def long_files(tree):
    names = list(tree.under("Sources", ".swift", *C_ENDINGS)) + list(tree.under("Tests", ".swift"))
    for name in names:
        count = len(tree.lines(name)) - 1
        if count > LONGEST_FILE:
            yield name, count, f"has {count} lines, more than {LONGEST_FILE}"


def repeated(tree):
    names = list(tree.under("Sources", ".swift", *C_ENDINGS))
    for first, second, length in duplicates.find({name: tree.lines(name) for name in names}):
        yield second[0], second[1], f"repeats {length} lines of {first[0]}:{first[1]}"


def products(tree):
    for name in tree.tracked:
        if re.search(r"^docs/|(^|/)(\.build[^/]*|Package\.resolved)(/|$)", name):
            yield name, 1, "is made by a build, and committed"


# The layers: what each target of the library may import and depend on. A star stands for all C libraries.
SYSTEM = {"Dispatch", "FoundationEssentials", "Glibc", "Synchronization"}
LAYERS = {
    "TintypeImages": {"CKernels", "CLinux", "CXXHash"},
    "TintypeCaching": {"TintypeImages", "CLinux", "CXXHash", "Logging"},
    "TintypeLoading": {"TintypeCaching", "Logging", "CoreMetrics", "Tracing"},
    "TintypeDisplay": {"TintypeLoading"},
    "TintypeCodecs": {"TintypeImages", "C*"},
    "TintypeIsolation": {"TintypeImages", "CIsolation"},
    "TintypeHTTP": {
        "TintypeLoading", "CLinux", "CZlib", "CBrotli", "CZstd", "AsyncHTTPClient", "NIOCore", "NIOHTTP1", "NIOHTTP2",
        "NIOHPACK", "NIOSSL",
    },
    "TintypeGTK": {"Tintype", "TintypeDisplay", "CGTK", "CGTKShim"},
    "Tintype": {"TintypeDisplay", "TintypeCodecs", "TintypeIsolation", "TintypeHTTP", "Logging"},
}
IMPORT = re.compile(r"^\s*(?:@\w+ )*(?:(?:public|package|internal|fileprivate|private) )?import (?:(?:struct|class|enum|protocol|func|var|let) )?(\w+)")


def may_use(target, module):
    allowed = LAYERS[target] | SYSTEM
    return module in allowed or ("C*" in allowed and re.match(r"C[A-Z]", module))


def manifest_dependencies(text):
    """The dependencies of a manifest's targets: (target, dependency, line)."""
    for head in re.finditer(r'\.(?:target|executableTarget|testTarget)\(\s*name: "(\w+)",\s*dependencies: \[', text):
        depth, end = 1, head.end()
        while depth:
            depth += {"[": 1, "]": -1}.get(text[end], 0)
            end += 1
        listed = text[head.end():end]
        for found in re.finditer(r'(?:(package|for): |traits: \[[^\]]*)?"([\w-]+)"', listed):
            if not found[0].startswith(("package", "for", "traits")):
                yield head[1], found[2], text.count("\n", 0, head.end() + found.start()) + 1


def layers(tree):
    for target in LAYERS:
        for name in tree.under(f"Sources/{target}", ".swift"):
            for number, line in enumerate(tree.lines(name), 1):
                found = IMPORT.match(line)
                if found and not may_use(target, found[1]):
                    yield name, number, f"imports {found[1]}, which {target} may not know"
    if "Package.swift" in tree.names:
        for target, dependency, line in manifest_dependencies("\n".join(tree.lines("Package.swift"))):
            if target in LAYERS and not may_use(target, dependency):
                yield "Package.swift", line, f"lets {target} depend on {dependency}, which it may not know"


def error_codes(tree):
    source, article = "Sources/TintypeImages/Errors/ImageError+Code.swift", "Sources/Tintype/Tintype.docc/AllErrors.md"
    listed = "\n".join(tree.lines(article)) if article in tree.names else ""
    for number, line in enumerate(tree.lines(source) if source in tree.names else [], 1):
        code = re.match(r"\s*public static let (\w+) = Self\(rawValue", line)
        if code and f"| `{code[1]}` |" not in listed:
            yield source, number, f"has the code {code[1]}, which {article} doesn't list"


RULES = {
    "layer": layers, "foundation": foundation, "promise": promises, "force": forces, "proof": proofs, "summary": summaries,
    "spelling": spelling, "time-limit": suites, "title-id": titles, "long-file": long_files, "repeated": repeated,
    "product": products, "capability": capabilities.check, "snippet": snippets.check,
    "language": language.check, "concept": language.concepts, "error-code": error_codes,
}


def folder(name):
    """The folder of an allowance: that of a target, or one of up to two levels in it."""
    parts = pathlib.PurePath(name).parts[:-1]
    return "/".join(parts[:4])


def allowances(root):
    path = pathlib.Path(root) / ALLOWANCES
    allowed = {}
    if path.exists():
        for line in path.read_text().splitlines():
            if line and not line.startswith("#"):
                rule, where, count = line.split("\t")
                allowed[rule, where] = int(count)
    return allowed


def check(root, out):
    """Prints what is wrong. What an allowance still covers is only counted."""
    tree = Tree(root)
    allowed = allowances(root)
    failed, counts, remaining = False, {}, {}
    for rule, find in RULES.items():
        found = {}
        for name, line, message in find(tree):
            found.setdefault(folder(name), []).append((name, line, message))
        for where, findings in sorted(found.items()):
            limit = allowed.get((rule, where), 0)
            counts[rule, where] = len(findings)
            if len(findings) <= limit:
                remaining[rule] = remaining.get(rule, 0) + len(findings)
                continue
            failed = True
            for name, line, message in findings:
                print(f"{name}:{line}: {message} [{rule}]", file=out)
            if limit:
                print(f"{where}: {len(findings)} findings of '{rule}', {limit} are allowed", file=out)
    if remaining:
        print("lint: allowed for now: " + ", ".join(f"{rule} {count}" for rule, count in remaining.items()), file=out)
    return not failed, counts, allowed


def tighten(root, counts, allowed):
    """Lowers the allowances to what is left. They are never raised."""
    path = pathlib.Path(root) / ALLOWANCES
    head = [line for line in path.read_text().splitlines() if line.startswith("#")]
    rows = []
    for (rule, where), limit in sorted(allowed.items()):
        count = min(limit, counts.get((rule, where), 0))
        if count:
            rows.append(f"{rule}\t{where}\t{count}")
    path.write_text("\n".join(head + rows) + "\n")


BODY = "\n".join(f"    let value{number} = compute({number})" for number in range(12))

VIOLATIONS = {
    "layer": {
        "Sources/TintypeCaching/A.swift": "internal import TintypeLoading\n",
        "Package.swift": '.target(\n name: "TintypeImages", dependencies: ["CLinux", "TintypeCaching"])\n',
    },
    "foundation": {"Sources/A/A.swift": "import Foundation\n"},
    "promise": {"Sources/A/A.swift": "// TO" + "DO: later\n"},
    "force": {"Sources/A/A.swift": "let value = try! make()\n"},
    "proof": {"Sources/A/A.swift": "/// Sendable: a doc comment is no proof.\nfinal class A: @unchecked Sendable {}\n"},
    "summary": {"Sources/A/A.swift": "/// What a caller gets.\nlet value = 1\n"},
    "spelling": {"Sources/A/A.swift": "// The colour of the sky.\n"},
    "time-limit": {"Tests/ATests/ATests.swift": '@Suite("A")\nstruct ATests {}\n'},
    "title-id": {"Tests/ATests/ATests.swift": '@Suite("A", .timeLimited)\nstruct ATests {\n    @Test("MGR-01 works")\n}\n'},
    "long-file": {"Sources/A/A.swift": "\n".join(f"let a{number} = {number}" for number in range(LONGEST_FILE + 1)) + "\n"},
    "repeated": {"Sources/A/A.swift": f"func a() {{\n{BODY}\n}}\n", "Sources/B/B.swift": f"func b() {{\n  {BODY}\n}}\n"},
    "language": {"Sources/A/A.swift": "// The time for which it waits is that of the lock, and nobody knows it.\n" * 5},
    "concept": {"Sources/Tintype/Tintype.docc/Loading.md": "Decode it on a ``DecodeBudget``.\n"},
    "product": {"docs/index.html": "<html>\n"},
    "error-code": {"Sources/TintypeImages/Errors/ImageError+Code.swift": 'public static let bad = Self(rawValue: "bad")\n'},
    "capability": {
        "Documentation/development/capabilities.md": "| MGR-01 | Loads. | ATests › loads |\n",
        "Tests/ATests/ATests.swift": '@Suite("A", .timeLimited)\nstruct ATests {\n    @Test("saves")\n}\n',
    },
    "snippet": {
        "README.md": "<!-- snippet: one -->\n```swift\nlet drifted = true\n```\n<!-- snippet: one -->\nNo code.\n",
        "Tests/SnippetTests/A.swift": "// snippet: one\nlet value = true\n// snippet.end\n",
    },
}


def self_test():
    """Makes a tree with one violation of each rule, and asks that this rule alone reports it; and a tree without any."""
    import io
    failures = 0
    for rule, files in list(VIOLATIONS.items()) + [("none", {"Sources/A/A.swift": "// Sendable: nothing is shared.\n"})]:
        with tempfile.TemporaryDirectory() as root:
            for name, text in files.items():
                path = pathlib.Path(root) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            out = io.StringIO()
            passed, counts, _ = check(root, out)
            reported = {found for found, _ in counts}
            if rule in ("layer", "snippet") and sum(counts.values()) != 2:
                failures += 1
                print(f"lint: self-test of '{rule}' misses one of two violations", file=sys.stderr)
            expected = set() if rule == "none" else {rule}
            if reported != expected or passed != (rule == "none"):
                failures += 1
                print(f"lint: self-test of '{rule}' reported {sorted(reported)}:\n{out.getvalue()}", file=sys.stderr)
    missing = set(RULES) - set(VIOLATIONS)
    if missing:
        failures += 1
        print(f"lint: no self-test for {sorted(missing)}", file=sys.stderr)
    if failures:
        return False
    print(f"lint: self-test passed, {len(VIOLATIONS)} rules")
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--tighten", action="store_true")
    parser.add_argument("--language", action="store_true")
    parser.add_argument("root", nargs="?", default=".")
    arguments = parser.parse_args()
    if arguments.self_test:
        sys.exit(0 if self_test() else 1)
    if arguments.language:
        print("\n".join(language.listing(Tree(arguments.root))))
    passed, counts, allowed = check(arguments.root, sys.stderr)
    print(language.table(Tree(arguments.root)))
    if arguments.tighten:
        tighten(arguments.root, counts, allowed)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
