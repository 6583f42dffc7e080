#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every ```cpp block of the pages against the public headers, without code generation. Standard library only.

usage: snippets.py SOURCE_FOLDER COMPILER [FLAG...]

A block is the body of a function, where <sfft/sfft.hpp> and some standard headers are included. A comment before it may
declare what the page leaves out:      <!-- given: std::vector<float> frame; -->
and a block that cannot be compiled gives the reason:  <!-- not compiled: an excerpt of generated code -->
"""
import pathlib
import re
import subprocess
import sys
import tempfile

HEADERS = ["array", "complex", "cstddef", "cstdint", "cstdio", "span", "string", "vector", "sfft/sfft.hpp"]
BLOCK = re.compile(r"(?:<!-- (given|not compiled): (.*?) -->\s*\n)?^```cpp\n(.*?)^```$", re.S | re.M)
ALLOWED_EXCEPTIONS = 1  # raise it only for code that no user writes


def blocks(page):
    """(line of the first statement, kind of the comment, its text, code) of each block."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        yield text.count("\n", 0, match.start(3)) + 1, match.group(1), match.group(2), match.group(3)


def translation_unit(page, found):
    includes = [f"#include <{header}>" for header in HEADERS]
    functions = []
    for number, (line, kind, given, code) in enumerate(found):
        lines = code.splitlines()
        includes += [text for text in lines if text.startswith("#include")]
        body = "\n".join("" if text.startswith("#include") else text for text in lines)
        declared = f"{given}\n" if kind == "given" else ""
        functions.append(f"namespace snippet_{number} {{\nvoid run() {{\n{declared}#line {line} \"{page}\"\n{body}\n}}\n}}")
    return "\n".join(includes + functions) + "\n"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    compiler = sys.argv[2:]
    compiled, exceptions, failed = 0, [], False
    for page in [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]:
        found = list(blocks(page))
        exceptions += [f"{page.relative_to(root)}:{line}: {reason}" for line, kind, reason, _ in found if kind == "not compiled"]
        found = [block for block in found if block[1] != "not compiled"]
        if not found:
            continue
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "snippets.cpp"
            source.write_text(translation_unit(page.relative_to(root), found), encoding="utf-8")
            done = subprocess.run([*compiler, "-std=c++20", "-fsyntax-only", f"-I{root}", str(source)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            failed = True
            print(done.stderr)
        compiled += len(found)
    print(f"{compiled} snippets compiled; left out: {exceptions}")
    if len(exceptions) > ALLOWED_EXCEPTIONS:
        print(f"at most {ALLOWED_EXCEPTIONS} may be left out")
        failed = True
    return 1 if failed or compiled == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
