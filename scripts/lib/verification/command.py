"""The command `tintype`, and tables of results."""

import json
import os
import subprocess


class Refused(Exception):
    """The command ended with a status other than 0."""


class Tintype:
    def __init__(self, path, seconds=300):
        self.path = path
        self.seconds = seconds

    def run(self, *arguments):
        try:
            done = subprocess.run(
                [self.path, *arguments], capture_output=True, text=True, timeout=self.seconds,
                env=dict(os.environ, SWIFT_BACKTRACE="enable=no"))
        except subprocess.TimeoutExpired:
            raise Refused(f"did not end within {self.seconds} s")
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines()
            raise Refused(lines[-1] if lines else f"status {done.returncode}")
        return done.stdout

    def convert(self, source, target, *options):
        self.run("convert", *options, "--", source, target)

    def info(self, source):
        return json.loads(self.run("info", "--json", "--", source))


def print_table(headings, rows):
    """Prints columns as wide as their contents; the first is flush left, the others flush right."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [headings, *rows]) for i in range(len(headings))]
    for row in [headings, *rows]:
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("  ".join(cells).rstrip())
