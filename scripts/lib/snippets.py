"""Keeps the code of the documentation the same as code that the tests compile and run.

In a file of one of the FOLDERS, which are tests and the programs of tutorials, a snippet stands between `// snippet: NAME` and `// snippet.end`; `// snippet.hide` and
`// snippet.show` leave out what only the test needs. A fenced `swift` block of README.md or of an article names its snippet in a
comment before it, `<!-- snippet: NAME -->`, and is the same line for line, whatever the indentation; imports at its beginning do
not count. `python3 scripts/lib/snippets.py` writes the snippets into the documentation. A block that nothing can compile, such as a
manifest, says `<!-- no snippet: REASON -->`. A block of a doc comment in Sources has to be the same as any of the snippets.
"""

import pathlib
import re

FOLDERS = ["Tests/SnippetTests", "Tests/TintypeGTKTests", "Examples/FirstWindow", "Examples/PictureBrowser",
           "Examples/ThumbnailServer"]
ARTICLES = re.compile(r"^(README\.md|CONTRIBUTING\.md|Documentation/.*\.md|Sources/.*\.docc/.*\.md)$")


def normalized(lines):
    """The lines without common indentation, trailing spaces, and blank lines or imports at the ends."""
    lines = [re.sub(r"(?<=\S) +//", "  //", line.rstrip()) for line in lines]
    while lines and (not lines[0] or lines[0].startswith("import ")):
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    indentation = min((len(line) - len(line.lstrip()) for line in lines if line), default=0)
    return "\n".join(line[indentation:] for line in lines)


def regions(tree):
    """The snippets of the tests: text by name."""
    found = {}
    for name in [name for folder in FOLDERS for name in tree.under(folder, ".swift")]:
        current, is_hidden, kept = None, False, []
        for line in tree.lines(name):
            marker = re.match(r"\s*// snippet([:.])\s*(\S+)$", line)
            if not marker:
                if current and not is_hidden:
                    kept.append(line)
            elif marker[1] == ":":
                current, kept, is_hidden = marker[2], [], False
            elif marker[2] == "end":
                found[current] = normalized(kept)
                current = None
            else:
                is_hidden = marker[2] == "hide"
    return found


def blocks(lines, is_swift):
    """The fenced swift blocks: (line of the fence, lines, the comment before it)."""
    start, kept, previous = None, [], ""
    for number, line in enumerate(lines, 1):
        if is_swift:
            comment = re.match(r"\s*///( ?)(.*)$", line)
            if not comment:
                start = None
                continue
            line = comment[2]
        if start is None:
            if re.match(r"\s*```swift\s*$", line):
                start, kept = number, []
            elif line.strip():
                previous = line
        elif re.match(r"\s*```\s*$", line):
            yield start, kept, previous
            start, previous = None, ""
        else:
            kept.append(line)


def lonely(lines):
    """The comments that name a snippet without a block of code after them: (line, name)."""
    for number, line in enumerate(lines, 1):
        marker = re.fullmatch(r"<!-- snippet: (\S+) -->", line)
        if marker and lines[number:number + 1] != ["```swift"]:
            yield number, marker[1]


def check(tree):
    snippets = regions(tree)
    compiled = set(snippets.values())
    for name in tree.names:
        is_article = ARTICLES.match(name)
        if not is_article and not (name.startswith("Sources/") and name.endswith(".swift")):
            continue
        for number, snippet in lonely(tree.lines(name)) if is_article else ():
            yield name, number, f"names the snippet {snippet} without a block of swift code after it"
        for number, lines, comment in blocks(tree.lines(name), not is_article):
            marker = re.search(r"<!-- snippet: (\S+) -->", comment)
            if "<!-- no snippet: " in comment:
                continue
            if not is_article:
                if normalized(lines) not in compiled:
                    yield name, number, f"shows code that is no snippet of {FOLDERS[0]}"
            elif not marker:
                yield name, number, "shows code without `<!-- snippet: NAME -->` before it"
            elif snippets.get(marker[1]) != normalized(lines):
                yield name, number, f"differs from the snippet {marker[1]}; run python3 scripts/lib/snippets.py"


def update(tree):
    """Writes the snippets into the blocks that name them."""
    snippets = regions(tree)
    problems = []

    def block(match):
        text = snippets.get(match[2])
        if text is None:
            problems.append(f"{name}: there is no snippet {match[2]}")
        imports = "".join(line + "\n" for line in match[3].split("\n") if line.startswith("import "))
        return match[0] if text is None else f"{match[1]}{imports}{imports and chr(10)}{text}\n```"

    for name in filter(ARTICLES.match, tree.names):
        path = pathlib.Path(tree.root) / name
        old = path.read_text()
        problems += [f"{name}:{number}: no block of swift code follows the name of the snippet {snippet}"
                     for number, snippet in lonely(old.split("\n"))]
        new = re.sub(r"(<!-- snippet: (\S+) -->\n```swift\n)(.*?)```", block, old, flags=re.S)
        if new != old:
            path.write_text(new)
            print(name)
    return problems


if __name__ == "__main__":
    import sys

    import lint
    sys.exit("\n".join(update(lint.Tree("."))) or None)
