#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that links between the pages name files and headings that exist. Standard library only.

usage: links.py SOURCE_FOLDER
"""
import pathlib
import re
import sys


def headings(page):
    """The anchors of a page, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    anchors = set()
    for heading in re.findall(r"^#+ (.*)$", text, flags=re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchors.add(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-"))
    return anchors


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "data").glob("*.md"), *(root / "bench").rglob("*.md")]
    broken = 0
    for page in pages:
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists() or (anchor and file.suffix == ".md" and anchor not in headings(file)):
                print(f"{page.relative_to(root)}: no {target}")
                broken += 1
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
