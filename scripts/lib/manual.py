"""Writes the man page of a command, from the description that its parser prints.

    tintype --experimental-dump-help | python3 scripts/lib/manual.py VERSION > tintype.1
"""

import json
import re
import sys


def escaped(text):
    """The text for groff: everything in it is shown as it is."""
    text = text.replace("\\", "\\e")
    # Options can be copied from the page, so their hyphens are those of ASCII.
    text = re.sub(r"(?<![\w-])--?(?=[A-Za-z])", lambda match: match.group().replace("-", "\\-"), text)
    text = re.sub(r"(?<=\w)-(?=\w)", "\\-", text) if text.startswith("\\-") else text
    text = "".join(c if ord(c) < 128 else f"\\[u{ord(c):04X}]" for c in text)
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.MULTILINE)


def paragraphs(text):
    """The lines of a text of several paragraphs."""
    for number, paragraph in enumerate(part for part in (text or "").split("\n\n") if part.strip()):
        if number:
            yield ".PP"
        yield escaped(" ".join(paragraph.split()))


def spelled(name):
    return ("--" if name["kind"] == "long" else "-") + name["name"]


def title(argument):
    """The names of an option with its value, or the name of a positional argument."""
    value = f"<{argument['valueName']}>" if argument.get("valueName") else ""
    if argument["kind"] == "positional":
        return f"\\fI{escaped(value)}\\fR"
    # Short names first.
    names = sorted(argument["names"], key=lambda name: (name["kind"] == "long", spelled(name)))
    text = ", ".join(f"\\fB{escaped(spelled(name))}\\fR" for name in names)
    return f"{text} \\fI{escaped(value)}\\fR" if argument["kind"] == "option" else text


def text(argument):
    parts = [argument.get("abstract", ""), argument.get("discussion", "")]
    default = argument.get("defaultValue")
    if default and "default" not in parts[0]:
        parts.append(f"(default: {default})")
    values = argument.get("allValueStrings") or argument.get("allValues")
    if values:
        parts.append(f"(values: {', '.join(values)})")
    return " ".join(part for part in parts if part)


def shown(arguments):
    """The arguments of a command without those of every command, by the titles of their sections."""
    sections = {}
    for argument in arguments or []:
        names = {name["name"] for name in argument.get("names") or []}
        if argument["shouldDisplay"] and not names & {"help", "version"}:
            sections.setdefault(argument.get("sectionTitle"), []).append(argument)
    return sections


def subcommands(command):
    for subcommand in command.get("subcommands") or []:
        if subcommand.get("shouldDisplay", True) and subcommand["commandName"] != "help":
            yield subcommand


def described(command, path):
    """The lines for a command and the commands in it."""
    sections = shown(command.get("arguments"))
    usage = [f"\\fB{escaped(path)}\\fR"]
    if list(subcommands(command)):
        usage.append("\\fIsubcommand\\fR")
    everything = [argument for arguments in sections.values() for argument in arguments]
    for argument in everything:
        if argument["kind"] == "positional":
            name = title(argument) + ("..." if argument["isRepeating"] else "")
            usage.append(f"[{name}]" if argument["isOptional"] else name)
    if any(argument["kind"] != "positional" for argument in everything):
        usage.append("[\\fIoptions\\fR]")
    yield f'.SS "{" ".join(usage)}"'
    yield from paragraphs(command.get("abstract"))
    if command.get("discussion"):
        yield ".PP"
        yield from paragraphs(command["discussion"])
    for section, arguments in sections.items():
        if section:
            yield ".PP"
            yield escaped(section) + ":"
        for argument in arguments:
            yield ".TP"
            yield title(argument)
            yield escaped(" ".join(text(argument).split())) or "\\&"
    for subcommand in subcommands(command):
        yield from described(subcommand, f"{path} {subcommand['commandName']}")


def page(command, version):
    name = command["commandName"]
    abstract = command.get("abstract", "").rstrip(".")
    yield f'.TH {name.upper()} 1 "" "{name} {escaped(version)}" "User Commands"'
    yield ".SH NAME"
    yield f"{name} \\- {escaped(abstract[:1].lower() + abstract[1:])}"
    yield ".SH SYNOPSIS"
    yield f"\\fB{name}\\fR \\fIsubcommand\\fR [\\fIarguments\\fR] [\\fIoptions\\fR]"
    yield ".PP"
    yield f"\\fB{name}\\fR [\\fIsubcommand\\fR] \\fB\\-\\-help\\fR | \\fB\\-\\-version\\fR"
    yield ".SH DESCRIPTION"
    yield from paragraphs(command.get("discussion"))
    yield ".SH COMMANDS"
    for subcommand in subcommands(command):
        yield from described(subcommand, f"{name} {subcommand['commandName']}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print("\n".join(page(json.load(sys.stdin)["command"], sys.argv[1])))
