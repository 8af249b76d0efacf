"""Writes the manual pages of the command, from what the command says of itself.

usage: man_pages.py SONDE FOLDER     sonde.1 and a sonde-COMMAND.1 for each command
"""
import pathlib
import subprocess
import sys


def said(*command: str) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def escaped(text: str) -> str:
    """Escapes the text for troff."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{text}" if text.startswith((".", "'")) else text


def sections(text: str) -> dict[str, list[str]]:
    """The lines below each heading. The title comes before the first one, the description after the usage."""
    headings = ("Usage", "Commands", "Arguments", "Options", "Examples", "Environment")
    found: dict[str, list[str]] = {"": []}
    name = ""
    for line in text.splitlines():
        if line in headings:
            name = line
            found[name] = []
        elif name == "Usage" and line and not line.startswith(" "):
            name = "Description"
            found[name] = [line]
        else:
            found[name].append(line)
    return found


def rows(lines: list[str]) -> list[tuple[str, str]]:
    """Of a table in two columns: a name and its meaning, which may continue in the lines below."""
    found: list[tuple[str, str]] = []
    for line in lines:
        if not line.strip():
            continue
        if found and len(line) - len(line.lstrip()) > 6:  # more than before any name
            name, text = found[-1]
            found[-1] = (name, f"{text} {line.strip()}".strip())
            continue
        name, _, text = line.strip().partition("  ")
        found.append((name, text.strip()))
    return found


def page(name: str, version: str, text: str, others: list[str]) -> str:
    parts = sections(text)
    title = parts[""][0]
    summary = title.partition(": ")[2] or "records, prints and shows what happens inside a neural network"
    out = [f'.TH {name.upper()} 1 "" "Sonde {version}" "Sonde"', ".SH NAME", rf"{escaped(name)} \- {escaped(summary)}",
           ".SH SYNOPSIS", ".nf", *(escaped(line.strip()) for line in parts["Usage"] if line.strip()), ".fi"]
    out.append(".SH DESCRIPTION")
    out += [escaped(line) if line else ".PP" for line in parts.get("Description", [title])]
    for heading in ("Commands", "Arguments", "Options", "Environment"):
        if heading not in parts:
            continue
        out.append(f".SH {heading.upper()}")
        for left, right in rows(parts[heading]):
            out += [".TP", rf"\fB{escaped(left)}\fR", escaped(right)]
    if "Examples" in parts:
        out += [".SH EXAMPLES", ".nf", *(escaped(line.strip()) for line in parts["Examples"] if line.strip()), ".fi"]
    out.append(".SH SEE ALSO")
    out.append(", ".join(rf"\fB{escaped(other)}\fR(1)" for other in others))
    return "\n".join(out) + "\n"


def main() -> None:
    sonde, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    version = said(sonde, "--version").split()[-1]
    general = said(sonde, "help")
    commands = [name for name, _ in rows(sections(general)["Commands"]) if name != "help"]
    names = [f"sonde-{command}" for command in commands]
    (folder / "sonde.1").write_text(page("sonde", version, general, names), encoding="utf-8")
    for command, name in zip(commands, names):
        text = page(name, version, said(sonde, "help", command), ["sonde"])
        (folder / f"{name}.1").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
