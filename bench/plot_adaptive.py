#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the input-adaptive experiment of bench_cuda_sparse: learning once and transforming, against cuFFT on every frame.

usage: bench/plot_adaptive.py [bench/results/h200/adaptive.json] [-o FOLDER] [--format svg|png]      Needs Matplotlib.
"""
from plot import draw, finish, measured, ticks

COLOURS = ["#0072b2", "#009e73", "#d55e00"]


def main():
    data, folder = measured(__doc__, "adaptive.json")
    rows = data["rows"]

    figure, axes, _ = draw({}, ("Learning once against transforming densely", f"{data['device']}, frames in its memory, k = 1000; lines go on at the measured "
                                "time a frame"), "frames", "time so far")
    ends = []
    last = max(3 * (row["break_even_frames"] or row["frames"]) for row in rows)
    for colour, row in zip(COLOURS, rows):
        once_us = 1e3 * (row["learn_ms"] + row["plan_ms"])
        for key, name, once, line in (("sfft", "sfft", once_us, "-"), ("cufft", "cuFFT", 1e3 * row.get("cufft_plan_ms", 0.0), "--")):
            frame_us = row[f"{key}_us_per_frame"]
            axes.plot([at["frames"] for at in row["after"]], [1e3 * at[f"{key}_ms"] for at in row["after"]], color=colour, linestyle="",
                      marker="o" if key == "sfft" else "s", markersize=5, markerfacecolor=colour if key == "sfft" else "white")
            x = [row["frames"] * (last / row["frames"]) ** (i / 60) for i in range(61)]
            axes.plot(x, [once + frame_us * frames for frames in x], color=colour, linestyle=line, linewidth=2.2 if key == "sfft" else 1.3)
            ends.append((x[-1], once + frame_us * x[-1], f"{name}, {row['name']} {row['shape'].replace('x', ' × ')}", colour))
        even = row["break_even_frames"]
        if even is not None:
            axes.plot([even], [once_us + row["sfft_us_per_frame"] * even], marker="*", markersize=13, color=colour, markeredgecolor="white")
    axes.set_xscale("log")
    figure.subplots_adjust(right=0.7)
    finish(figure, axes, ends, folder / "gpu_adaptive")


if __name__ == "__main__":
    main()
