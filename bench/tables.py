#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the published tables from bench/results/*/*.json between markers in README.md, docs/*.md and docs/results/*.md.

usage: bench/tables.py [--check]     --check: exit 1 when a file would change, or a result is shown nowhere;
                                 CI runs this

A block  <!-- table: NAME -->  …  <!-- end -->  is replaced by the table NAME below. Standard library only.
"""
import json
import math
import pathlib
import re
import sys

import dense_tables
import gpu_tables
import guard_tables
import large_tables
import precisions_tables
import sfft_bench_tables
import technologies_tables
import trust_tables
from table_text import error_text, percent, points_text, time_text

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results" / "cpu"


def load(name):
    """Medians by benchmark name (aggregates where there are repetitions, single runs otherwise)."""
    with open(RESULTS / f"{name}.json", encoding="utf-8") as file:
        data = json.load(file)
    rows = {}
    for entry in data["benchmarks"]:
        if entry.get("run_type") == "aggregate" and entry.get("aggregate_name") != "median":
            continue
        key = re.sub(r"/(iterations|min_time|repeats|manual_time)(:[^/]*)?", "", entry["run_name"])
        rows[key] = entry
    return data["context"], rows


def microseconds(entry):
    return entry["real_time"] * {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}[entry["time_unit"]]


def number(value):
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def known_rows(rows, wanted):
    lines = ["| N | k | path | samples read | sfft warm | sfft cold | FFTW float MEASURE | ratio warm, cold | relative L2, float | double | plan |",
             "|---:|---:|---|---:|---:|---:|---:|---|---:|---:|---:|"]
    for n, k in wanted:
        warm = rows[f"known/float/N:{n}/k:{k}/warm"]
        cold = rows[f"known/float/N:{n}/k:{k}/cold"]
        double = rows[f"known/double/N:{n}/k:{k}/warm"]
        fftw = rows[f"fftw/float/N:{n}"]
        ratio = microseconds(fftw) / microseconds(warm)
        lines.append(f"| {points_text(n)} | {k} | {warm['label']} | {warm['samples']:,.0f} | {time_text(microseconds(warm))} | "
                     f"{time_text(microseconds(cold))} | {time_text(microseconds(fftw))} | **{number(ratio)}×**, {number(microseconds(fftw) / microseconds(cold))}× | "
                     f"{warm['relative_l2']:.1e} | {double['relative_l2']:.1e} | {warm['plan_ms']:.1f} ms |")
    return "\n".join(lines)


def table_known():
    _, rows = load("known_support")
    wins = [(1 << b, 64) for b in (12, 16, 20, 22, 24)] + [(1 << b, 1000) for b in (16, 20, 24)] + [(1048573, 64)]
    return known_rows(rows, wins)


def table_dense_wins():
    _, rows = load("known_support")
    return known_rows(rows, [(4096, 256), (4096, 1024), (4096, 2048), (65536, 4096), (65536, 16384)])


def table_noise():
    _, rows = load("noise")
    lines = ["| N | k | SNR | samples read | error / least-squares floor | 2 standard errors cover | tail energy, estimate / truth |",
             "|---:|---:|---:|---:|---:|---:|---:|"]
    for name, row in rows.items():
        n, k, snr = re.match(r"noise/N:(\d+)/k:(\d+)/snr_db:([\d.]+)", name).groups()
        lines.append(f"| {points_text(int(n))} | {k} | {float(snr):.0f} dB | {100 * row['samples_fraction']:.2g} % | "
                     f"{row['error_over_floor']:.3f} | {100 * row['coverage_2se']:.1f} % | {row['tail_over_truth']:.3f} |")
    return "\n".join(lines)


def table_video():
    _, rows = load("video")
    lines = ["| recording | k | pixels read | warm | mean with renewals and calibration | distinct frames | cold | FFTW R2C | ratio warm, distinct, cold | built-in dense | relative error, median | p95 | reported | covered |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|---:|---:|"]
    for name, row in rows.items():
        match = re.match(r"video/(.+)/k:(\d+)$", name)
        if not match:
            continue
        fftw = microseconds(rows[f"fftw/{match.group(1)}"])
        built_in = microseconds(rows[f"built_in/{match.group(1)}"])
        us = microseconds(row)
        lines.append(f"| {match.group(1).replace('_', ' ')} | {match.group(2)} | {100 * row['samples_fraction']:.2f} % | {time_text(us)} | "
                     f"{time_text(row['mean_us'])} | {time_text(row['distinct_us'])} | {time_text(row['cold_us'])} | {time_text(fftw)} | "
                     f"**{number(fftw / us)}×**, {number(fftw / row['distinct_us'])}×, {number(fftw / row['cold_us'])}× | {time_text(built_in)} | "
                     f"{100 * row['error_median']:.1f} % | {100 * row['error_p95']:.1f} % | {100 * row['reported_median']:.1f} % | "
                     f"{100 * row['coverage']:.0f} % |")
    return "\n".join(lines)


def table_summary():
    """What the README shows of known_support.json and video.json: recordings, long signals, and one that is lost."""
    lines = ["| signal | k | read | sfft | FFTW | ratio | cold | with renewals | relative error |", "|---|---:|---:|---:|---:|---:|---:|---:|---:|"]

    def add(name, k, read, us, fftw, cold, mean, error):
        renewals = f"{number(fftw / mean)}×" if mean else "–"
        lines.append(f"| {name} | {k} | {percent(read)} | {time_text(us)} | {time_text(fftw)} | **{number(fftw / us)}×** | "
                     f"{number(fftw / cold)}× | {renewals} | {error_text(error)} |")

    _, rows = load("video")
    for name, text in (("car-detection_1920x1080", "video 1920×1080"), ("car-detection", "video 768×432"), ("bottle-detection", "video 640×360")):
        row = rows[f"video/{name}/k:1000"]
        add(text, 1000, row["samples_fraction"], microseconds(row), microseconds(rows[f"fftw/{name}"]), row["cold_us"], row["mean_us"],
            row["error_median"])
    _, rows = load("known_support")
    for n, k in ((1 << 20, 64), (1 << 24, 1000), (1048573, 64), (4096, 1024)):
        row = rows[f"known/float/N:{n}/k:{k}/warm"]
        add(f"sparse, {points_text(n)} points", k, row["samples"] / n, microseconds(row), microseconds(rows[f"fftw/float/N:{n}"]),
            microseconds(rows[f"known/float/N:{n}/k:{k}/cold"]), 0, row["relative_l2"])
    return "\n".join(lines)


PEERS = ("sFFT-1.0", "sFFT-2.0", "sFFT-3.0", "AAFFT 0.9", "FFAST")


def table_discovery():
    _, rows = load("discovery")
    lines = ["| signal | N | k | complete | silent misses | worst relative L2 | error / floor | samples read | first call | sfft warm | sfft cold | FFTW float MEASURE | "
             + " | ".join(PEERS) + " |", "|---|---:|---:|" + "---:|" * (9 + len(PEERS))]
    for name, row in rows.items():
        match = re.match(r"sfft/((.+)/N:([\dx]+)/k:(\d+))$", name)
        if not match:
            continue
        case, kind, extents, k = match.groups()
        peers = []
        for peer in PEERS:
            entry = rows.get(f"{peer}/{case}")
            if entry is None or entry.get("error_occurred"):
                peers.append("–")
                continue
            text = time_text(microseconds(entry))
            if entry["complete"] < entry["signals"]:
                text += f", {100 * entry['missed_share']:.2g} % missed"
            if f"{entry['length']:.0f}" != extents:
                text += f" (N = {entry['length']:,.0f})"
            peers.append(text)
        floor = f"{row['error_over_floor']:.2f}" if "error_over_floor" in row else "–"
        points = extents if "x" in extents else points_text(int(extents))
        lines.append(f"| {kind} | {points} | {k} | {row['complete']:.0f} of {row['signals']:.0f} | {row['silent_misses']:.0f} | "
                     f"{row['worst_l2']:.1e} | {floor} | {row['samples']:,.0f} | {time_text(row['plan_us'])} | **{time_text(microseconds(row))}** | "
                     f"{time_text(row['cold_us'])} | {time_text(microseconds(rows[f'fftw/{case}']))} | " + " | ".join(peers) + " |")
    return "\n".join(lines)


def table_refuse():
    _, rows = load("discovery")
    lines = ["| signal | N | until refused | built-in dense | FFTW float MEASURE | share of the faster |", "|---|---:|---:|---:|---:|---:|"]
    for name, row in rows.items():
        match = re.match(r"refuse/(.+)/N:([\dx]+)$", name)
        if not match:
            continue
        points = match.group(2) if "x" in match.group(2) else points_text(int(match.group(2)))
        lines.append(f"| {match.group(1)} | {points} | {time_text(microseconds(row))} | {time_text(row['dense_us'])} | "
                     f"{time_text(row['fftw_us'])} | {100 * row['share_of_dense']:.2g} % |")
    return "\n".join(lines)


def table_learn():
    _, rows = load("learn")
    lines = ["| frame | shape | k | learn | in frames of FFTW float MEASURE, median | minimum | of ESTIMATE | first call | `automatic` | support | largest error of a value | of the tail |",
             "|---|---|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|"]
    for name, row in rows.items():
        frame, shape, k = re.match(r"learn/([^/]+)/([\dx]+)/k:(\d+)$", name).groups()
        points = shape if "x" in shape else points_text(int(shape))
        way = "discovery" if row["automatic_discovery"] else "dense"
        lines.append(f"| {frame.replace('_', ' ')} | {points} | {k} | {time_text(microseconds(row))} | **{row['frames_measure']:.2f}** | {row['frames_measure_min']:.2f} | "
                     f"{row['frames_estimate']:.2f} | {row['first_frames']:.2f} | {row['automatic_frames']:.2f}, {way} | {100 * row['overlap']:.4g} % | "
                     f"{row['value_error']:.1e} | {row['tail_error']:.1e} |")
    return "\n".join(lines)


def table_run_control():
    with open(RESULTS / "run_control.json", encoding="utf-8") as file:
        data = json.load(file)
    lines = ["| call | threads | takes | stopped | median, request to end | longest |", "|---|---:|---:|---:|---:|---:|"]
    for row in data["rows"]:
        times = (f"{row['median_ms']:.1f} ms | {row['longest_ms']:.0f} ms" if row["stopped"] else "– | –")
        lines.append(f"| {row['call']} | {row['threads']} | {row['usual_ms']:,.0f} ms | {row['stopped']} | {times} |")
    lines.append(f"\nCommit {data['commit']}, {data['processor']}, `{data['command']}`.")
    return "\n".join(lines)


def table_bands():
    with open(RESULTS / "bands.json", encoding="utf-8") as file:
        data = json.load(file)
    lines = ["| points | samples | K | library | FFTW | FFTW's time over the library's | relative L2 difference |", "|---|---|---:|---:|---:|---:|---:|"]
    for row in data["rows"]:
        samples = f"{'real' if row['real'] else 'complex'} `{row['precision']}`"
        lines.append(f"| 2^{row['points'].bit_length() - 1} | {samples} | {row['count']:,} | {row['us'] / 1000:.1f} ms | {row['fftw_us'] / 1000:.1f} ms | "
                     f"**{row['ratio']:.1f}×** | {row['relative_l2_to_fftw']:.1e} |")
    lines.append(f"\nCommit {data['commit']}, {data['processor']}, `{data['command']}`.")
    return "\n".join(lines)


def table_axes():
    with open(RESULTS / "axes.json", encoding="utf-8") as file:
        data = json.load(file)
    rows = sorted(data["rows"], key=lambda row: -row["ratio"])
    mean = math.exp(sum(math.log(row["ratio"]) for row in rows) / len(rows))
    lines = [f"FFTW's time over the library's is {mean:.2f} in the geometric mean of {len(rows)} layouts, {rows[len(rows) // 2]['ratio']:.2f} at the median, "
             f"and below 0.95 for {sum(row['ratio'] < 0.95 for row in rows)}.\n",
             "| array, transformed axes | samples | direction | library | FFTW | FFTW's time over the library's |", "|---|---|---|---:|---:|---:|"]
    for row in rows:
        lines.append(f"| {row['layout']} | `{row['kind']}` | {row['direction']} | {row['us']:,.1f} µs | {row['fftw_us']:,.1f} µs | {row['ratio']:.2f}× |")
    lines.append(f"\nCommit {data['commit']}, {data['processor']}, `{data['command']}`.")
    return "\n".join(lines)


def table_trigonometric():
    with open(RESULTS / "trigonometric.json", encoding="utf-8") as file:
        data = json.load(file)
    lines = ["| kind | shape | batch | samples | library | FFTW | FFTW's time over the library's | relative L2 difference |", "|---|---|---:|---|---:|---:|---:|---:|"]
    for row in data["rows"]:
        lines.append(f"| `{row['kind']}` | {row['shape'].replace('x', '×')} | {row['batch']:,} | `{row['precision']}` | {row['us']:,.0f} µs | {row['fftw_us']:,.0f} µs | "
                     f"**{row['ratio']:.1f}×** | {row['relative_l2_to_fftw']:.1e} |")
    lines.append(f"\nCommit {data['commit']}, {data['processor']}, `{data['command']}`.")
    return "\n".join(lines)


def table_convolution():
    with open(RESULTS / "convolution.json", encoding="utf-8") as file:
        data = json.load(file)
    lines = ["| signal | kernel | library | FFTW | FFTW's time over the library's | relative L2 difference |", "|---|---|---:|---:|---:|---:|"]
    for row in data["rows"]:
        signal, taps = (row[key].replace("x", "×") for key in ("shape", "taps"))
        lines.append(f"| {signal} | {taps} | {row['us'] / 1000:.1f} ms | {row['fftw_us'] / 1000:.1f} ms | **{row['ratio']:.1f}×** | {row['relative_l2_to_fftw']:.1e} |")
    lines.append(f"\nCommit {data['commit']}, {data['processor']}, `{data['command']}`.")
    return "\n".join(lines)


def table_context():
    lines = ["| file | commit | processor | command |", "|---|---|---|---|"]
    for name in ("known_support", "noise", "video", "discovery", "learn"):
        if not (RESULTS / f"{name}.json").exists():
            continue
        context, _ = load(name)
        lines.append(f"| `bench/results/cpu/{name}.json` | {context['commit']} | {context['processor']} | `{context['command']}` |")
    return "\n".join(lines)


TABLES = {"known": table_known, "dense-wins": table_dense_wins, "noise": table_noise, "video": table_video,
          "summary": table_summary, "discovery": table_discovery, "refuse": table_refuse, "learn": table_learn, "run-control": table_run_control, "axes": table_axes, "bands": table_bands, "trigonometric": table_trigonometric, "convolution": table_convolution, "context": table_context, **gpu_tables.TABLES,
          **dense_tables.TABLES, **large_tables.TABLES, **precisions_tables.TABLES, **sfft_bench_tables.TABLES, **technologies_tables.TABLES,
          **guard_tables.TABLES, **trust_tables.TABLES}


def table(name):
    try:
        return TABLES[name]()
    except FileNotFoundError as missing:
        return f"*Not measured yet: `{pathlib.Path(missing.filename).relative_to(ROOT)}`.*"


# Results that plot.py draws.
DRAWN = ("*/sfft_bench_*.json",)


def main():
    check = "--check" in sys.argv[1:]
    stale = False
    read = set()
    sys.addaudithook(lambda event, arguments: read.add(str(arguments[0])) if event == "open" else None)
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "results").glob("*.md"))):
        text = path.read_text(encoding="utf-8")
        fresh = re.sub(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end -->)",
                       lambda m: m.group(1) + table(m.group(2)) + "\n" + m.group(3), text, flags=re.S)
        if fresh != text:
            stale = True
            print(f"{path.relative_to(ROOT)}: {'stale' if check else 'updated'}")
            if not check:
                path.write_text(fresh, encoding="utf-8")
    folder = ROOT / "bench" / "results"
    drawn = {path for pattern in DRAWN for path in folder.glob(pattern)}
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path not in drawn and str(path) not in read):
        stale = True
        print(f"{path.relative_to(ROOT)}: no table and no figure shows it")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
