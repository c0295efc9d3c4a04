"""Checks Documentation/development/capabilities.md: each test that it quotes exists, and ids of rows and of tests are the same."""

import re

PAGE = "Documentation/development/capabilities.md"
ID = re.compile(r"^(?:[A-Z]{3}-(?:\d\d|L\d)|3\.\d+|D\d+)$")
SUITE = re.compile(r"^\s*(?:@Suite\([^\n]*\)\s*)?(?:(?:public|private|fileprivate|final|extension)\s+)*"
                   r"(?:struct|class|enum|actor|extension)\s+(\w+)", re.M)
TEST = re.compile(r'@(?:Test|Suite)\(\s*"((?:[^"\\]|\\.)*)"')
TRAIT = re.compile(r"\.capability\(([^)]*)\)")


def tests(tree):
    """The titles of tests and suites by the types that files declare, and the ids with a place where each is used."""
    quoted, ids = {}, {}
    for name in tree.under("Tests", ".swift"):
        text = "\n".join(tree.lines(name))
        found = {re.sub(r'\\(["\\])', r"\1", title) for title in TEST.findall(text)}
        for suite in set(SUITE.findall(text)):
            quoted.setdefault(suite, set()).update(found)
        for trait in TRAIT.finditer(text):
            for one in re.findall(r'"([^"]+)"', trait[1]):
                ids.setdefault(one, (name, text.count("\n", 0, trait.start()) + 1))
    return quoted, ids


def check(tree):
    if PAGE not in tree.names:
        return
    quoted, used = tests(tree)
    rows, refused = {}, {}
    section = ""
    for number, line in enumerate(tree.lines(PAGE), 1):
        if line.startswith("## "):
            section = line[3:]
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 3 or cells[2] == "where it is tested" or set(cells[0]) <= {"-", " "}:
            continue
        is_refusal = section.startswith("Refused")
        for one in re.split(r",\s*", cells[0]):
            if ID.match(one):
                (refused if is_refusal else rows).setdefault(one, number)
        if is_refusal:
            continue
        for text in quotations(cells[2]):
            suite, arrow, title = text.partition(" › ")
            if suite not in quoted:
                yield PAGE, number, f"names a suite that there is not: {suite}"
            elif arrow and title not in quoted[suite]:
                yield PAGE, number, f"quotes a test that there is not: {text}"
    for one in sorted(set(rows) - set(used)):
        yield PAGE, rows[one], f"has a row for {one}, which no test has as .capability(\"{one}\")"
    for one in sorted(set(used) - set(rows) - set(refused)):
        if ID.match(one):
            yield used[one][0], used[one][1], f"shows {one}, which has no row in {PAGE}"


def quotations(cell):
    """Splits `ATests › one; two; BTests › three` where a suite begins: titles may hold semicolons too."""
    return [text.strip() for text in re.split(r"[;,]\s+(?=\w+(?:Tests|Snippets)(?: ›|$|[,;]))", cell) if text.strip()]
