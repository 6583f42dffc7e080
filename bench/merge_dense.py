#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the results of several runs of bench_cuda_dense into one file: a machine is lent for minutes at a time.

usage: bench/merge_dense.py OUT.json IN.json [IN.json ...]

Rows of later files replace those of the same name. All must be of one commit, device and driver. OUT may be an IN. Standard library only.
"""
import json
import pathlib
import sys

SAME = ("device", "driver", "runtime", "cufft", "commit", "planning")


def merge(files):
    runs, rows = [], {}
    for file in files:
        data = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
        found = data.get("runs", [{key: value for key, value in data.items() if key != "rows"}])
        for run in found:
            different = [key for key in SAME if runs and run[key] != runs[0][key]]
            if different:
                sys.exit(f"merge_dense.py: {file} is of another {', '.join(different)}: {run[different[0]]}, not {runs[0][different[0]]}")
            runs.append(run)
        for row in data["rows"]:
            rows[row["group"], row["name"]] = row
    return {**{key: runs[0][key] for key in SAME}, "runs": runs, "rows": list(rows.values())}


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    merged = merge(sys.argv[2:])
    pathlib.Path(sys.argv[1]).write_text(json.dumps(merged, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{sys.argv[1]}: {len(merged['rows'])} rows of {len(merged['runs'])} runs")


if __name__ == "__main__":
    main()
