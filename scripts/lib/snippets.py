"""Checks that the code of the documentation is code that the tests compile and run.

A snippet is a fenced `swift` block of README.md, of an article, or of a doc comment in Sources. In a file under
Tests/TintypeTests/Snippets a snippet stands between `// snippet: NAME` and `// snippet.end`; `// snippet.hide` and
`// snippet.show` leave out what only the test needs. A block of the documentation has to be one of these regions, line for
line, whatever the indentation. `<!-- no snippet: REASON -->` before a block says that nothing can compile it, such as a manifest.
"""

import re

FOLDER = "Tests/TintypeTests/Snippets"
ARTICLES = re.compile(r"^(README\.md|CONTRIBUTING\.md|Documentation/.*\.md|Sources/.*\.docc/.*\.md)$")


def normalized(lines):
    """The lines without common indentation, trailing spaces, and blank lines at the ends."""
    lines = [line.rstrip() for line in lines]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    indentation = min((len(line) - len(line.lstrip()) for line in lines if line), default=0)
    return "\n".join(line[indentation:] for line in lines)


def regions(tree):
    """The snippets of the tests: text by name."""
    found = {}
    for name in tree.under(FOLDER, ".swift"):
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
    """The fenced swift blocks: (line of the fence, lines, whether it is excepted)."""
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
            yield start, kept, "no snippet:" in previous
            start, previous = None, ""
        else:
            kept.append(line)


def check(tree):
    compiled = set(regions(tree).values())
    names = [name for name in tree.names if ARTICLES.match(name)] + list(tree.under("Sources", ".swift"))
    for name in names:
        for number, lines, is_excepted in blocks(tree.lines(name), name.endswith(".swift")):
            if not is_excepted and normalized(lines) not in compiled:
                yield name, number, f"shows code that is no snippet of {FOLDER}"
