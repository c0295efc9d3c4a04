"""Finds blocks of more than ten lines that stand twice, whatever their indentation."""

import re

LONGEST = 10
# Says nothing of its own: blank lines, comments, imports, and lines that only close something.
SILENT = re.compile(r"^(//.*|\*.*|/\*.*|(@\w+ )?((public|internal|private|package) )?import .*|#include.*|[\s{}()\[\],;]*)$")


def essence(lines):
    """The lines that count, as (number, text with single spaces)."""
    for number, line in enumerate(lines, 1):
        text = " ".join(line.split())
        if not SILENT.match(text):
            yield number, text


def find(files):
    """Yields (first, second, length) for each block that is repeated; a place is (file, line)."""
    size = LONGEST + 1
    seen, covered = {}, set()
    texts = {name: list(essence(lines)) for name, lines in files.items()}
    for name in sorted(texts):
        lines = texts[name]
        for start in range(len(lines) - size + 1):
            block = tuple(text for _, text in lines[start:start + size])
            if block not in seen:
                seen[block] = (name, start)
                continue
            if (name, start) in covered:
                continue
            first_name, first_start = seen[block]
            if first_name == name and start - first_start < size:
                continue
            first, length = texts[first_name], size
            while (start + length < len(lines) and first_start + length < len(first)
                   and lines[start + length][1] == first[first_start + length][1]):
                length += 1
            covered.update((name, position) for position in range(start, start + length))
            yield (first_name, first[first_start][0]), (name, lines[start][0]), length
