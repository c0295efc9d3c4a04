"""Counts words in the comments of Sources that make English sound translated, per 1,000 words, and compares them with limits.

The limits are twice the rates of Nuke's comments, and at least 0.3: "the time for which", "that of", "the one that", "whoever" are
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


def comments(lines):
    """The text of the comments: (line, text), without code."""
    is_code = False
    for number, line in enumerate(lines, 1):
        found = COMMENT.match(line)
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
        for number, text in comments(tree.lines(name)):
            words += len(re.findall(r"[A-Za-z][\w'’-]*", text))
            for column, pattern in PATTERNS.items():
                found[column] += [(name, number)] * len(pattern.findall(text))
    return words, found


def files(tree):
    return list(tree.under("Sources", ".swift", ".c", ".h"))


def check(tree):
    words, found = count(tree, files(tree))
    for column, (_, limit) in COLUMNS.items():
        rate = 1000 * len(found[column]) / max(words, 10_000)
        if rate > limit:
            name, number = found[column][-1]
            yield name, number, (f"is the last of {len(found[column])} uses of '{column}' in comments, {rate:.1f} per 1,000 words; "
                                 f"{limit} are allowed (scripts/lint --language lists them)")


def table(tree):
    """A row of rates for each target, and for all."""
    targets = {}
    for name in files(tree):
        targets.setdefault(name.split("/")[1], []).append(name)
    rows = [f"{'per 1,000 words of comments':28}{'words':>8}" + "".join(f"{column:>21}" for column in COLUMNS)]
    for target, names in [*sorted(targets.items()), ("all", files(tree))]:
        words, found = count(tree, names)
        if words:
            rates = "".join(f"{1000 * len(places) / words:21.1f}" for places in found.values())
            rows.append(f"{target:28}{words:8}{rates}")
    rows.append(f"{'limit':36}" + "".join(f"{limit:21}" for _, limit in COLUMNS.values()))
    return "\n".join(rows)


def listing(tree):
    """All findings, to be read."""
    for name in files(tree):
        for number, text in comments(tree.lines(name)):
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
