#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""guard_tables.py RESULTS.json: the tables of docs/guard.md from what bench_guard --json wrote."""
import json
import sys

with open(sys.argv[1]) as file:
    results = json.load(file)
recordings = results["recordings"]
print("| found of", results["moments"], "moments |", " | ".join(r["name"] for r in recordings), "|")
print("|---|" + "---|" * len(recordings))
for i, row in enumerate(recordings[0]["detection"]):
    star = " *" if row["at_a_glance"] else ""
    print(f"| {row['kind']} {row['strength']:g}{star} |", " | ".join(f"{r['detection'][i]['found']}" for r in recordings), "|")
print("| alarms untouched |", " | ".join(str(sum(a["where"] == "untouched" for a in r["untouched"]["alarms"])) for r in recordings), "|")
print("| alarms of 12 runs with other light |", " | ".join(str(sum(a["where"] != "untouched" for a in r["untouched"]["alarms"])) for r in recordings), "|")
print()
order = sorted(recordings, key=lambda r: r["name"])
print("| shift, px |", " | ".join(f"{r['name']}: median (largest) error, times faster" for r in order), "|")
print("|---|" + "---|" * len(order))
for i, row in enumerate(order[0]["shifts"]):
    cells = [f"{r['shifts'][i]['error_median_px']:.3f} ({r['shifts'][i]['error_largest_px']:.3f}) px, {r['shifts'][i]['times_faster']:.0f} ×" for r in order]
    print(f"| {row['shift_px']:g} |", " | ".join(cells), "|")
