#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of sfft-bench: run time against N (also under noise) and k, error against SNR, recordings. Needs Matplotlib.

usage: bench/plot.py RESULT.json [RESULT.json ...] [-o FOLDER] [--format svg|png] [--cold]

Writes FOLDER/time_vs_n_k50.svg and so on, one for each figure that the results hold, and prints their names. Results
of several files are drawn together (another device's, say).
"""
import argparse
import itertools
import json
import math
import pathlib
import re
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (after the choice of the backend)
from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: E402

# One colour and marker a contender, in every figure (Okabe and Ito's palette, told apart by most eyes).
STYLES = {
    "FFTW": ("#000000", "s"),
    "FFTW estimate": ("#999999", "s"),
    "sfft dense": ("#777777", "D"),
    "cuFFT": ("#5b3a8e", "X"),
    "cuFFT patient": ("#9b82c4", "X"),
    "VkFFT": ("#b03060", "X"),
    "sFFT-1.0": ("#e69f00", "^"),
    "sFFT-2.0": ("#b8860b", "v"),
    "sFFT-3.0": ("#d55e00", "<"),
    "AAFFT 0.9": ("#cc79a7", ">"),
    "FFAST": ("#56b4e9", "P"),
    "sfft known support": ("#0072b2", "o"),
    "sfft discovery": ("#009e73", "o"),
}
SPARE = itertools.cycle([("#0072b2", "o"), ("#009e73", "o"), ("#d55e00", "<"), ("#56b4e9", "P")])
plt.rcParams.update({
    "font.family": "sans-serif", "font.size": 10, "svg.fonttype": "none", "svg.hashsalt": "sfft", "axes.grid": True,
    "grid.color": "#e4e4e4", "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False,
    "axes.edgecolor": "#888888", "axes.labelcolor": "#444444", "xtick.color": "#444444", "ytick.color": "#444444", "figure.figsize": (8.2, 4.8),
})


def load(paths):
    rows = []
    for path in paths:
        try:
            data = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
            if data["schema"] != "sfft-bench/1":
                raise ValueError("schema " + str(data["schema"]))
            for row in data["rows"]:
                if row["skipped"]:
                    continue
                where = "" if row["device"] == "cpu" else f" ({data.get('gpu', '').removeprefix('NVIDIA ') or row['device']})"
                row["label"] = row["contender"] + where
                rows.append(row)
        except (OSError, ValueError, KeyError, TypeError) as error:
            sys.exit(f"plot.py: {path} is not a result of sfft-bench: {error}")
    return rows


def points_text(n):
    n = int(n)
    return f"$2^{{{n.bit_length() - 1}}}$" if n > 0 and n & (n - 1) == 0 else f"{n:,}"


def time_text(us, _=None):
    for scale, unit in ((1e6, "s"), (1e3, "ms"), (1, "µs")):
        if us >= 0.999 * scale:
            return f"{us / scale:g} {unit}"
    return f"{us * 1e3:g} ns"


def curves(rows, x, y):
    """label -> sorted [(x, y)], in the order of first appearance; of what was measured twice, the latest."""
    found = {}
    for row in rows:
        if row[x] is not None and row[y]:
            found.setdefault(row["label"], {})[row[x]] = row[y]
    return {label: sorted(values.items()) for label, values in found.items()}


FULL = ("FFTW", "FFTW estimate", "FFTW patient", "sfft dense", "cuFFT", "cuFFT patient", "VkFFT")


def threads_of(row):
    return row.get("threads", 1)  # results from before there were any have one


def style(label):
    """Full transforms are dashed, this library is thick, a GPU has hollow markers; more threads are dotted."""
    base, _, device = label.partition(" (")
    base, threads = re.fullmatch(r"(.*?)(, \d+ threads)?", base).groups()
    if base not in STYLES:
        STYLES[base] = next(SPARE)
    colour, marker = STYLES[base]
    full = base in FULL
    return {"color": colour, "marker": marker, "linewidth": 2.4 if base.startswith("sfft") and not full else 1.4, "markersize": 5,
            "linestyle": ":" if threads else "--" if full else "-", "markerfacecolor": "white" if device else colour}


def label_ends(axes, ends):
    """Names at the right end of the curves, pushed apart where they would overlap."""
    axes.figure.canvas.draw()
    to_pixels = axes.transData.transform
    height = 13.0
    placed = sorted(((to_pixels((x, y))[1], x, y, label, colour) for x, y, label, colour in ends))
    at = [entry[0] for entry in placed]
    for _ in range(200):  # relax: neighbours that overlap share the distance
        for i in range(len(at) - 1):
            overlap = height - (at[i + 1] - at[i])
            if overlap > 0:
                at[i] -= overlap / 2
                at[i + 1] += overlap / 2
    right = axes.transAxes.transform((1, 0))[0]
    scale = 72 / axes.figure.dpi
    for pixel, (_, x, y, label, colour) in zip(at, placed):
        end = to_pixels((x, y))
        axes.annotate(label, (x, y), xytext=((right + 14 - end[0]) * scale, (pixel - end[1]) * scale), textcoords="offset points",
                      color=colour, va="center", fontsize=9.5, annotation_clip=False,
                      arrowprops={"arrowstyle": "-", "color": "#bbbbbb", "linewidth": 0.7, "shrinkA": 1, "shrinkB": 4})


def draw(data, title, x_label, y_label, x_log=True, time_axis=True):
    figure, axes = plt.subplots()
    figure.subplots_adjust(left=0.11, right=0.75, top=0.86, bottom=0.13)
    ends = []
    for label, values in data.items():
        look = style(label)
        axes.plot([v[0] for v in values], [v[1] for v in values], **look)
        ends.append((*values[-1], label, look["color"]))
    if x_log:
        axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel(x_label)
    axes.set_title(title[0], loc="left", fontsize=13, fontweight="bold", pad=22)
    axes.text(0, 1.025, title[1], transform=axes.transAxes, color="#555555", fontsize=9.5)
    axes.set_ylabel(y_label, labelpad=2)
    axes.yaxis.set_minor_formatter(NullFormatter())
    if time_axis:
        axes.yaxis.set_major_formatter(FuncFormatter(time_text))
    return figure, axes, ends


def finish(figure, axes, ends, path):
    label_ends(axes, ends)
    save(figure, path)


def save(figure, path):
    path = path.with_suffix("." + plt.rcParams["savefig.format"])
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=150)
    plt.close(figure)
    print(path)


def conditions(rows, clock):
    moved = sorted({row["contender"] for row in rows if row["points"] != row["nominal_points"]})
    noisy = {row["snr_db"] for row in rows} - {None}
    signals = f"SNR {min(noisy):g} dB" if noisy else "exactly sparse signals"
    text = f"{signals}, {clock[1]}; one thread unless a device is named" + (" or threads are" if any(threads_of(row) > 1 for row in rows) else "")
    return text + (f"; {', '.join(moved)} at the nearest N it takes" if moved else "")


def ticks(axes, values, text):
    axes.set_xticks(values, [text(v) for v in values])
    axes.xaxis.set_minor_formatter(NullFormatter())


def run_time(rows, clock, folder, figure, fixed, axis, title, tick, name=None):
    """One figure of run time against `axis` for each value of the `fixed` field, and one more for each number of threads."""
    name = name or figure
    for value in sorted({row[fixed] for row in rows if row["figure"] == figure}):
        of_value = [row for row in rows if row["figure"] == figure and row[fixed] == value]
        compared = {re.sub(r", \d+ threads$", "", row["contender"]) for row in of_value if threads_of(row) > 1}
        for threads in sorted({threads_of(row) for row in of_value}):
            chosen = [row for row in of_value if threads_of(row) == threads or (threads_of(row) == 1 and row["contender"] in compared)]
            drawing, axes, ends = draw(curves(chosen, axis, clock[0]), (title(value), conditions(chosen, clock)), "k" if axis == "k" else "N", "time")
            ticks(axes, sorted({row[axis] for row in chosen}), tick)
            finish(drawing, axes, ends, folder / (f"{name}_{'k' if fixed == 'k' else 'n'}{value}" + (f"_threads{threads}" if threads > 1 else "")))


def time_vs_n(rows, clock, folder):
    run_time(rows, clock, folder, "time_vs_n", "k", "nominal_points", lambda k: f"Run time against signal length, k = {k}", points_text)


def time_vs_n_noise(rows, clock, folder):
    """Only what finds the support has a time to compare: the others are named."""
    noisy = [row for row in rows if row["figure"] == "time_vs_n_noise"]
    for snr in sorted({row["snr_db"] for row in noisy}):
        found = [row for row in noisy if row["snr_db"] == snr and row["missed"] <= 0.5]
        lost = dict.fromkeys(row["contender"] for row in noisy if row["snr_db"] == snr)
        for row in found:
            lost.pop(row["contender"], None)
        title = "Run time against N under noise, k = {}" + (f" ({', '.join(lost)}: lost)" if lost else "")
        run_time(found, clock, folder, "time_vs_n_noise", "k", "nominal_points", title.format, points_text, f"time_vs_n_snr{snr:g}")


def time_vs_k(rows, clock, folder):
    run_time(rows, clock, folder, "time_vs_k", "nominal_points", "k", lambda n: f"Run time against sparsity, N = {points_text(n)}", str)


def error_vs_snr(rows, _, folder):
    for n in sorted({row["nominal_points"] for row in rows if row["figure"] == "error_vs_snr"}):
        chosen = [row for row in rows if row["figure"] == "error_vs_snr" and row["nominal_points"] == n]
        k = chosen[0]["k"]
        figure, axes, ends = draw(curves(chosen, "snr_db", "mean_error"), (f"Error against noise, N = {points_text(n)}, k = {k}",
                                  "mean error of a coefficient of size 1; a missed one counts 1"), "SNR, total power, dB", "error",
                                  x_log=False, time_axis=False)
        low, high = min(r["snr_db"] for r in chosen), max(r["snr_db"] for r in chosen)
        floor = [(s, math.sqrt(math.pi / 4 * k / (10 ** (s / 10) * n))) for s in (low, high)]
        axes.plot(*zip(*floor), color="#999999", linewidth=1, linestyle=":")
        middle = (floor[0][0] + floor[1][0]) / 2
        axes.annotate("a full FFT's, in theory", (middle, math.sqrt(floor[0][1] * floor[1][1])), xytext=(-10, -16), textcoords="offset points",
                      ha="right", color="#777777", fontsize=8.5)
        finish(figure, axes, ends, folder / f"error_vs_snr_n{n}")


def video(rows, _, folder):
    chosen = [row for row in rows if row["figure"] == "video" and (threads_of(row) == 1 or row["device"] != "cpu")]
    for row in chosen:
        row["total_us"] = 1e3 * row["total_ms"]
    films = sorted({(row["shape"], row.get("recording", "")) for row in chosen})
    for shape, recording in films:
        part = [row for row in chosen if (row["shape"], row.get("recording", "")) == (shape, recording)]
        size = shape.split()[0]
        figure, axes, ends = draw(curves(part, "frames", "total_us"), (f"Learning and transforming frames of {size.replace('x', ' × ')}",
                                  "all frames so far, learning, planning and plan creation included"), "frames", "time so far")
        axes.set_xscale("log")
        ticks(axes, sorted({row["frames"] for row in part}), str)
        alone = sum(other == shape for other, _ in films) == 1
        finish(figure, axes, ends, folder / (f"video_{size}" if alone else f"video_{size}_{re.sub('[^0-9A-Za-z-]', '_', recording)}"))


def dense(rows, clock, folder):
    chosen = [row for row in rows if row["figure"] == "dense" and threads_of(row) == 1]
    if not chosen:
        return
    shapes = sorted({(row["shape"].count("x"), row["points"], row["shape"]) for row in chosen})
    labels = list(dict.fromkeys(row["label"] for row in chosen))
    figure, axes = plt.subplots(figsize=(8.2, 0.42 * len(shapes) + 1.6))
    figure.subplots_adjust(left=0.2, right=0.95, top=1 - 0.75 / (0.42 * len(shapes) + 1.6), bottom=0.5 / (0.42 * len(shapes) + 1.6))
    for label in labels:
        times = {row["shape"]: row[clock[0]] for row in chosen if row["label"] == label}
        # Nanoseconds a point put all sizes on one axis.
        places = [(times[shape] * 1e3 / points, place) for place, (_, points, shape) in enumerate(shapes) if times.get(shape)]
        look = style(label)
        axes.plot([p[0] for p in places], [p[1] for p in places], color=look["color"], marker=look["marker"], linestyle="", markersize=7,
                  markerfacecolor=look["markerfacecolor"],
                  label=label)
    axes.set_yticks(range(len(shapes)), [points_text(p) if rank == 0 and " " not in s else s.replace("x", " × ") for rank, p, s in shapes])
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    axes.xaxis.set_minor_formatter(FuncFormatter(lambda v, _: f"{v:g}" if str(f"{v:e}")[0] in "25" else ""))
    axes.set_xlabel(f"nanoseconds a point, {clock[1]}")
    axes.set_title("Dense transforms", loc="left", fontsize=13, fontweight="bold", pad=10)
    axes.legend(frameon=False, ncols=len(labels), loc="lower right", bbox_to_anchor=(1, 1))
    save(figure, folder / "dense")


def measured(description, file):
    """A results file of the H200, `file` unless the command line names another, and the folder for its figure."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("results", nargs="?", default=pathlib.Path(__file__).resolve().parent / "results" / "h200" / file)
    parser.add_argument("-o", "--output", default=".", help="folder of the figure")
    parser.add_argument("--format", choices=("svg", "png"), default="svg")
    arguments = parser.parse_args()
    plt.rcParams["savefig.format"] = arguments.format
    folder = pathlib.Path(arguments.output)
    folder.mkdir(parents=True, exist_ok=True)
    return json.loads(pathlib.Path(arguments.results).read_text(encoding="utf-8")), folder


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="+", help="JSON files of sfft-bench")
    parser.add_argument("-o", "--output", default=".", help="folder of the figures")
    parser.add_argument("--format", choices=("svg", "png"), default="svg")
    parser.add_argument("--cold", action="store_true", help="times with cold caches")
    arguments = parser.parse_args()
    folder = pathlib.Path(arguments.output)
    folder.mkdir(parents=True, exist_ok=True)
    clock = ("cold_us", "cold caches") if arguments.cold else ("warm_us", "warm caches")
    rows = load(arguments.results)
    plt.rcParams["savefig.format"] = arguments.format
    for figure in (time_vs_n, time_vs_n_noise, time_vs_k, error_vs_snr, dense, video):
        figure(rows, clock, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
