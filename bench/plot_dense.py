#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws bench_cuda_dense: how much faster than the faster of cuFFT and VkFFT, and the passes over memory that batched lines take.

usage: bench/plot_dense.py [bench/results/h200/dense.json] [-o FOLDER] [--format svg|png]      Needs Matplotlib.
"""
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

from plot import measured, plt, save

COLOURS = {"tuned": "#0072b2", "automatic": "#0072b2", "cuFFT": "#5b3a8e", "VkFFT": "#d55e00"}
MARKERS = {"tuned": "o", "automatic": "o", "cuFFT": "X", "VkFFT": "D"}


def points(axes, rows, contender, key, label, **look):
    there = [(row[contender][key], place) for place, row in enumerate(rows) if row.get(contender, {}).get(key)]
    axes.plot([x for x, _ in there], [y for _, y in there], linestyle="", color=COLOURS[contender], marker=MARKERS[contender], label=label, **look)
    return [x for x, _ in there]


def log_axis(axes, rows, labels, values, marks):
    """A row a line, first at the top; `values` are what the axis has to show."""
    axes.set_xscale("log")
    axes.set_xlim(min(values) * 0.93, max(values) * 1.07)
    axes.xaxis.set_major_locator(FixedLocator(marks))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks(range(len(rows)), labels, fontsize=8.5)
    axes.set_ylim(len(rows) - 0.4, -0.6)


def ratios(axes, rows):
    axes.axvline(1, color="#888888", linewidth=1.2)
    values = [row["target"] for row in rows] + [0.9, 1.1]
    for place, row in enumerate(rows):
        axes.plot([row["target"]] * 2, [place - 0.38, place + 0.38], color="#009e73", linewidth=2, label="held to" if place == 0 else None)
    values += points(axes, rows, "automatic", "ratio", "what automatic chose", markersize=8, markerfacecolor="white")
    values += points(axes, rows, "tuned", "ratio", "tuned kernels", markersize=5)
    log_axis(axes, rows, [row["name"] for row in rows], values, (0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6, 8))
    axes.set_xlabel("times faster than the faster of cuFFT and VkFFT")


def passes(axes, rows):
    values = [0.9, 1.2]
    limit = rows[0]["target_passes"]
    axes.axvline(limit, color="#009e73", linewidth=1.5)
    for contender, size in (("cuFFT", 5), ("VkFFT", 4.5), ("tuned", 6)):
        values += points(axes, rows, contender, "passes", "tuned kernels" if contender == "tuned" else contender, markersize=size)
    log_axis(axes, rows, [row["shape"] for row in rows], values, (0.7, 1, 1.4, 2, 2.8, 4, 5.6, 8))
    axes.set_xlabel(f"passes over memory; line: held to at most {limit:g}")


def main():
    data, folder = measured(__doc__, "dense.json")
    rows = [row for row in data["rows"] if row.get("target") is not None]
    sides = [(ratios, [row for row in rows if row["group"] != "batched"], "Against the faster library"),
             (passes, [row for row in rows if row["group"] == "batched"], "Batched lines of n points")]
    sides = [side for side in sides if side[1]]

    figure, all_axes = plt.subplots(1, len(sides), figsize=(5.4 * len(sides), 7.4), squeeze=False)
    figure.subplots_adjust(left=0.225, right=0.98, top=0.88, bottom=0.07, wspace=0.22)
    for axes, (draw, chosen, title) in zip(all_axes[0], sides):
        draw(axes, chosen)
        axes.set_title(title, loc="left", fontsize=11, fontweight="bold", pad=24)
        axes.legend(frameon=False, ncols=3, loc="lower left", bbox_to_anchor=(-0.02, 0.995), fontsize=8.5, handletextpad=0.2, columnspacing=1)
    figure.suptitle(f"Dense transforms on an {data['device']}, single precision, data in its memory", x=0.02, ha="left", fontsize=12.5)
    save(figure, folder / "gpu_dense")


if __name__ == "__main__":
    main()
