"""Compares the counts that callgrind wrote for Benchmarks/InstructionCounts with instruction-counts.tsv, and prints a table.

    instruction_counts.py FOLDER [--update]

The folder has the names of the cases, in `names`, and callgrind's files: `counts.1` was written at the first mark, and each case has a mark
before and one after its work.
"""

import pathlib
import platform
import re
import subprocess
import sys

FILE = pathlib.Path(__file__).with_name("instruction-counts.tsv")
# How much more than in the file a case may take. Tintype's code with Swift's runtime is in one column, and C libraries in the other: Debian's
# releases have other versions of them.
TOLERANCES = {"Tintype and Swift": 0.05, "C libraries": 0.25}
# Differences below this part of a case don't matter.
NEGLIGIBLE = 0.01

OBJECT = re.compile(r"ob=\((\d+)\)(?: (.*))?")
COST = re.compile(r"(?:[+\-]?\d+|\*) (\d+)")


def is_own(path):
    name = pathlib.PurePath(path).name
    return name == "InstructionCounts" or name.startswith(("libswift", "libFoundation", "lib_Foundation", "libdispatch"))


def counts(path):
    """The instructions of a file: in Tintype and Swift, and in C libraries."""
    names, sums, current, is_call = {}, {True: 0, False: 0}, None, False
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if is_call:  # A line of what a callee took, which counts where it was taken.
            is_call = False
        elif cost := COST.fullmatch(line):
            sums[is_own(names[current])] += int(cost[1])
        elif line.startswith("calls="):
            is_call = True
        elif match := OBJECT.search(line):  # Also a callee's, which may have the name of the number.
            number, name = match.groups()
            if name:
                names[number] = name
            if line.startswith("ob="):
                current = number
    return [sums[True], sums[False]]


def circumstances():
    swift = subprocess.run(["swift", "--version"], capture_output=True, text=True).stdout
    version = re.search(r"Swift version \S+", swift)
    return f"{version[0] if version else 'an unknown Swift'}, {platform.freedesktop_os_release()['PRETTY_NAME']}"


def read():
    lines = FILE.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return lines[1].removeprefix("# "), {name: [int(own), int(libraries)] for name, own, libraries in rows}


def write(measured):
    lines = ["# Thousands of instructions: case, Tintype and Swift, C libraries. scripts/instruction-counts --update writes this file.",
             f"# {circumstances()}"]
    lines += ["\t".join([name, *(str(round(count / 1_000)) for count in parts)]) for name, parts in measured.items()]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def compare(measured):
    known_circumstances, known = read()
    findings = []
    print("| thousands of instructions | " + " | ".join(f"{part} | before" for part in TOLERANCES) + " |")
    print("| --- |" + " ---: |" * (2 * len(TOLERANCES)))
    for name, parts in measured.items():
        if name not in known:
            findings.append(f"{name} isn't in the file")
            continue
        cells = []
        for (part, tolerance), count, before in zip(TOLERANCES.items(), parts, known[name]):
            count = count / 1_000
            share = f"{count / before - 1:+.1%}" if before else ""
            cells.append(f"{count:,.0f} | {before:,} ({share})")
            if abs(count - before) <= NEGLIGIBLE * sum(known[name]):
                continue
            if count > before * (1 + tolerance):
                findings.append(f"{name}: {part} took {share}, and {tolerance:.0%} are allowed")
            elif count < before * (1 - tolerance):
                print(f"{name}: {part} took {share}. --update keeps it that way.", file=sys.stderr)
        print(f"| {name} | " + " | ".join(cells) + " |")
    findings += [f"{name} is in the file, but wasn't counted" for name in known if name not in measured]
    if not findings:
        return 0
    print("\n".join(findings), file=sys.stderr)
    if known_circumstances != circumstances():
        print(f"The file was counted with {known_circumstances}; this is {circumstances()}.", file=sys.stderr)
    print("If that is as it should be, scripts/instruction-counts --update writes the counts into the file.", file=sys.stderr)
    return 1


def main():
    folder = pathlib.Path(sys.argv[1])
    names = (folder / "names").read_text(encoding="utf-8").splitlines()
    # The dumps with odd numbers are of what comes before a case, and of its first time.
    measured = {name: counts(folder / f"counts.{2 * index + 2}") for index, name in enumerate(names)}
    if "--update" not in sys.argv:
        return compare(measured)
    write(measured)
    print(FILE.read_text(encoding="utf-8"), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
