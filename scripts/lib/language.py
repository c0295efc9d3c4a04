"""Counts words in the comments of Sources, and in the articles, that make English sound translated, and compares them with limits.

The limits are twice the rates per 1,000 words of Nuke's comments, and at least 0.3: "the time for which", "that of", "the one that", "whoever" are
correct, and a sentence with the noun or a verb in their place is read faster.
"""

import re

# The first three articles, and the types that stand for their twelve concepts: manager, request, image, cache, loader, coder, transformer,
# prefetcher, player, display, placeholder, and error. Others belong into later articles.
FIRST_ARTICLES = ["GettingStarted", "Loading", "ShowingImages"]
FIRST_TYPES = {
    "ImageManager", "ImageRequest", "Image", "ImageCache", "ImageDownloader", "DataURLLoader", "FileLoader", "ImageTransformer",
    "ImagePrefetcher", "AnimatedImagePlayer", "ImageDisplay", "TintypePicture", "ImageError",
}

COLUMNS = {
    "preposition + which": (
        r"(?:in|on|at|for|of|from|to|by|with|through|under|over|after|before|into|within|during|without|against|between|since|until) which",
        1.8),
    "that of, those of": (r"(?:that|those) of", 0.3),
    "is no, are no": (r"(?:is|are) no(?! longer)", 0.4),
    "what, whatever": (r"what(?:ever)?", 1.4),
    "who, nobody": (r"who|whoever|nobody|somebody", 0.3),
    "one, ones": (r"ones?", 3.6),
    "begin": (r"begin|begins|began|begun|beginning", 0.3),
}
PATTERNS = {column: re.compile(rf"\b(?:{pattern})\b", re.I) for column, (pattern, _) in COLUMNS.items()}
COMMENT = re.compile(r'^(?:(?:[^"/]|"(?:[^"\\]|\\.)*"|/(?!/))*)//[/!]?(.*)$')


def texts(name, lines):
    """The text of an article, or of the comments of a source file: (line, text), without code."""
    is_code = False
    for number, line in enumerate(lines, 1):
        found = re.match(r"(.*)$", line) if name.endswith(".md") else COMMENT.match(line)
        if not found:
            is_code = False
            continue
        text = found[1]
        if text.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield number, re.sub(r"(`+)[^`]*\1", "", text)


def count(tree, names):
    """The words of the comments of some files, and the findings of each column: (file, line)."""
    words, found = 0, {column: [] for column in COLUMNS}
    for name in names:
        for number, text in texts(name, tree.lines(name)):
            words += len(re.findall(r"[A-Za-z][\w'’-]*", text))
            for column, pattern in PATTERNS.items():
                found[column] += [(name, number)] * len(pattern.findall(text))
    return words, found


def groups(tree):
    """The files whose rates count together, by the name of the group."""
    return {
        "comments": list(tree.under("Sources", ".swift", ".c", ".h")),
        "articles": [name for name in tree.under("Sources", ".md") if ".docc/" in name],
    }


def check(tree):
    for group, names in groups(tree).items():
        words, found = count(tree, names)
        for column, (_, limit) in COLUMNS.items():
            rate = 1000 * len(found[column]) / max(words, 10_000)
            if rate > limit:
                name, number = found[column][-1]
                yield name, number, (
                    f"is the last of {len(found[column])} uses of '{column}' in {group}, {rate:.1f} per 1,000 words; {limit} are allowed "
                    "(scripts/lint --language lists them)")


def table(tree):
    """A row of rates for the articles, for the comments of each target, and for all comments."""
    comments, articles = groups(tree).values()
    rows = {"articles": articles}
    for name in comments:
        rows.setdefault(name.split("/")[1], []).append(name)
    rows["all comments"] = comments
    lines = [f"{'per 1,000 words':18}{'words':>8}" + "".join(f"{column:>21}" for column in COLUMNS)]
    for row, names in rows.items():
        words, found = count(tree, names)
        if words:
            lines.append(f"{row:18}{words:8}" + "".join(f"{1000 * len(places) / words:21.1f}" for places in found.values()))
    lines.append(f"{'limit':26}" + "".join(f"{limit:21}" for _, limit in COLUMNS.values()))
    return "\n".join(lines)


def listing(tree):
    """All findings, to be read."""
    for name in sum(groups(tree).values(), []):
        for number, text in texts(name, tree.lines(name)):
            columns = [column for column, pattern in PATTERNS.items() if pattern.search(text)]
            if columns:
                yield f"{name}:{number}: {text.strip()} [{'; '.join(columns)}]"


def concepts(tree):
    """Types in the prose of the first articles that are none of the concepts that a newcomer has to know."""
    for article in FIRST_ARTICLES:
        name = f"Sources/Tintype/Tintype.docc/{article}.md"
        is_code = False
        for number, line in enumerate(tree.lines(name) if name in tree.names else [], 1):
            is_code ^= line.startswith("```")
            for found in re.findall(r"`+((?:Image|[A-Z]\w+Image|Decode|Encode|Cache|Display|Disk|Memory|Tintype[A-Z])\w*)", "" if is_code else line):
                if found not in FIRST_TYPES and not found.startswith(("TintypeGTK", "TintypeTesting")):
                    yield name, number, f"speaks of {found}, which is none of the concepts of the first articles"
