#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a source that uses every public type, so that its debugging information describes their layout.

usage: abi_probe.py SOURCE_FOLDER
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(root / "tests" / "docs"))
import public_types  # noqa: E402

print("#include <sfft/sfft.hpp>")
uses = 0
for header in public_types.installed_headers(root)[0]:
    text = (root / header).read_text(encoding="utf-8")
    for name in public_types.public_types(text):
        template = re.search(r"template <class Real>\s*(?:class|struct) (?:SFFT_EXPORT )?" + name.split("::")[-1] + r"\b", text)
        for arguments in ["<float>", "<double>"] if template else [""]:
            print(f'__attribute__((visibility("default"))) void use_{uses}(const {name}{arguments}&) {{}}')
            uses += 1
