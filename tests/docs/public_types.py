#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the public types of the installed headers: classes, structs and enums at namespace scope outside `detail`.

usage: public_types.py SOURCE_FOLDER [--list]     exit 1 above the limits, which may only fall
"""
import pathlib
import re
import sys

LIMIT, MPI_LIMIT = 42, 6


def public_types(text):
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
    found, scopes, statement = [], [], ""
    for token in re.findall(r"[{};]|[^{};]+", text):
        if token == "{":
            namespace = re.search(r"\bnamespace\s+([\w:]+)\s*$", statement)
            named = re.search(r"\b(?:class|struct|enum(?:\s+class)?)\s+(?:SFFT_EXPORT\s+)?(\w+)\s*(?:final\s*)?(?:<[^;{]*>)?\s*(?::[^:].*)?$", statement, flags=re.S)
            if named and all(scope.startswith("namespace") and "detail" not in scope for scope in scopes) and "<>" not in statement:
                found.append("::".join([*(scope.split()[1] for scope in scopes), named.group(1)]))
            scopes.append("namespace " + namespace.group(1) if namespace else "other")
            statement = ""
        elif token == "}":
            scopes.pop()
            statement = ""
        elif token == ";":
            statement = ""
        else:
            statement += token
    return found


def installed_headers(root):
    """The headers that cmake/library.cmake and sfft/mpi install."""
    listed = (root / "cmake" / "library.cmake").read_text(encoding="utf-8")
    return sorted({name for name in re.findall(r"[\w/]+\.hpp", listed) if (root / name).exists()}), ["sfft/mpi.hpp"]


def main():
    root = pathlib.Path(sys.argv[1])
    library, mpi = ([name for header in headers for name in public_types((root / header).read_text(encoding="utf-8"))]
                    for headers in installed_headers(root))
    if "--list" in sys.argv:
        print("\n".join(library + mpi))
    print(f"{len(library)} public types of at most {LIMIT}, {len(mpi)} of MPI of at most {MPI_LIMIT}")
    return 1 if len(library) > LIMIT or len(mpi) > MPI_LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())
