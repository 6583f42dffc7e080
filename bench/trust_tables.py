# SPDX-License-Identifier: Apache-2.0
"""Tables of docs/accuracy.md from what `bench_trust` and `bench_discover_population` wrote."""
import json
import pathlib

from table_text import percent

FEWEST_FRAMES = 10
RESULTS = pathlib.Path(__file__).resolve().parent / "results" / "cpu"


def load(name):
    with open(RESULTS / f"{name}.json", encoding="utf-8") as file:
        return json.load(file)


def streams_row(name, streams):
    """Exact streams and those with few sparse frames have no median, as in the program (kFewestFrames)."""
    ratios = [s["reported_over_true"] for s in streams if s["reported_over_true"] is not None and s["sparse"] >= FEWEST_FRAMES]
    beyond = sum((1 - s["coverage"]) * s["frames"] for s in streams) / sum(s["frames"] for s in streams)
    return (f"| {name} | {len(streams)} | {min(ratios):.2f}–{max(ratios):.2f} | {sum(not 0.9 <= r <= 1.35 for r in ratios)} | "
            f"{sum(s['coverage'] < 0.95 for s in streams)} | {percent(beyond)} |")


def table_streams():
    lines = ["| population | streams | median of reported/true, all streams | outside 0.9–1.35 | covered below 95 % | frames beyond twice |",
             "|---|---:|---|---:|---:|---:|",
             streams_row("video, seeds 1 to 7", [s for seed in range(1, 8) for s in load(f"trust_video_seed{seed}")["streams"]]),
             streams_row("six recordings", load("trust_recordings")["streams"])]
    families = [f for seed in (1, 2, 3) for f in load(f"trust_streams_seed{seed}")["families"]]
    everything = [f for f in families if f["family"] == "(all)"]
    beyond = sum(f["beyond_twice"] for f in everything) / sum(f["frames"] for f in everything)
    lines.append(f"| tones, seeds 1 to 3: phases that advance, amplitudes ×100, births, chirps, gaps, interferers, … | "
                 f"{sum(f['streams'] for f in everything) // 3:,} | | | | {percent(beyond)} (worst family {percent(max(f['share'] for f in families))}) |")
    return "\n".join(lines)


def table_tones():
    data = load("trust_tone")
    lines = ["| frames with | frames | silent |", "|---|---:|---:|"]
    for row in data["configurations"]:
        lines.append(f"| {row['question']} | {row['places']:,} | {row['silent']} |")
    return "\n".join(lines)


def table_discovery():
    data = load("discover_population")
    row = next(f for f in data["families"] if f["family"] == "all")
    return "\n".join((
        "| signals | verified by discovery | dense | not verified | silently wrong | a few samples, fewer than `shortest_burst` |",
        "|---:|---:|---:|---:|---:|---:|",
        f"| {row['signals']:,} (seed {data['seed']}) | {row['verified_by_discovery']:,} | {row['dense']:,} | {row['unverified']:,} | "
        f"{row['silent']} | {row['exempt']:,} |"))


TABLES = {"trust-streams": table_streams, "trust-tones": table_tones, "trust-discovery": table_discovery}
