# SPDX-License-Identifier: Apache-2.0
"""Tables of docs/guard.md from what `bench_guard --json` wrote."""
import json
import pathlib

RESULTS = pathlib.Path(__file__).resolve().parent / "results"


def recordings():
    with open(RESULTS / "cpu" / "guard.json", encoding="utf-8") as file:
        results = json.load(file)
    return results["moments"], results["recordings"]


def table_detection():
    moments, found = recordings()
    lines = [f"| found of {moments} moments | " + " | ".join(r["name"] for r in found) + " |", "|---|" + "---|" * len(found)]
    for i, row in enumerate(found[0]["detection"]):
        star = " *" if row["at_a_glance"] else ""
        lines.append(f"| {row['kind']} {row['strength']:g}{star} | " + " | ".join(f"{r['detection'][i]['found']}" for r in found) + " |")
    for text, untouched in (("alarms untouched", True), ("alarms of 12 runs with other light", False)):
        counts = (sum((a["where"] == "untouched") == untouched for a in r["untouched"]["alarms"]) for r in found)
        lines.append(f"| {text} | " + " | ".join(map(str, counts)) + " |")
    return "\n".join(lines)


def table_shifts():
    found = sorted(recordings()[1], key=lambda r: r["name"])
    lines = ["| shift, px | " + " | ".join(r["name"] for r in found) + " |", "|---|" + "---|" * len(found)]
    for i, row in enumerate(found[0]["shifts"]):
        cells = [f"{r['shifts'][i]['error_median_px']:.3f} ({r['shifts'][i]['error_largest_px']:.3f}) px, {r['shifts'][i]['times_faster']:.0f} ×" for r in found]
        lines.append(f"| {row['shift_px']:g} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


TABLES = {"guard-detection": table_detection, "guard-shifts": table_shifts}
