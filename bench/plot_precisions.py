#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws error against time for all precisions, one panel per device, from the results that are there.

usage: bench/plot_precisions.py [RESULT.json ...] [-o FOLDER] [--format svg|png]      Needs Matplotlib.

Without names: bench/results/cpu/precisions.json, bench/results/h200/tensor.json and compact.json, those that exist.
"""
import argparse
import pathlib

from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

from plot import plt, save
from precisions_tables import load, measured_files, points_of

# Float is a reference, not a colour; what is stored in 16 bits, or computed in them, has one each.
STYLES = {
    "f64": ("#000000", "s"), "f32": ("#777777", "D"), "f16": ("#0072b2", "o"), "bf16": ("#56b4e9", "v"), "block16": ("#009e73", "^"),
    "cufft f32": ("#777777", "X"), "tuned f32": ("#000000", "D"), "tensor": ("#d55e00", "o"), "unsplit f16": ("#e69f00", "v"),
    "cufft f16": ("#5b3a8e", "X"), "float": ("#777777", "D"), "f16 between": ("#0072b2", "s"),
}


def panel(axes, device, points):
    axes.axvline(1, color="#888888", linewidth=1.2)
    for precision in sorted({point.precision for point in points}, key=list(STYLES).index):
        mine = [point for point in points if point.precision == precision]
        colour, marker = STYLES[precision]
        axes.plot([point.times_of_float for point in mine], [point.error for point in mine], linestyle="", color=colour, marker=marker,
                  markersize=4.5, alpha=0.75, label=precision)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(FixedLocator((0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6, 8)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("time over that of float" + (": cuFFT for tensor cores, else Plan<float>" if "NVIDIA" in device else ""))
    axes.set_title(device, loc="left", fontsize=11, fontweight="bold", pad=34)
    axes.legend(frameon=False, ncols=4, loc="lower left", bbox_to_anchor=(-0.02, 0.995), fontsize=8.5, handletextpad=0.1, columnspacing=0.9)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="*", help="JSON of bench_dense_precisions, bench_cuda_tensor or bench_cuda_compact")
    parser.add_argument("-o", "--output", default=".", help="folder of the figure")
    parser.add_argument("--format", choices=("svg", "png"), default="svg")
    arguments = parser.parse_args()
    plt.rcParams["savefig.format"] = arguments.format
    points = [point for file in arguments.results or measured_files() for point in points_of(load(file))]
    devices = list(dict.fromkeys(point.device for point in points))
    if not devices:
        parser.error("no results: give files, or measure")
    folder = pathlib.Path(arguments.output)
    folder.mkdir(parents=True, exist_ok=True)
    figure, all_axes = plt.subplots(1, len(devices), figsize=(5.2 * len(devices), 5.0), squeeze=False, sharey=True)
    figure.subplots_adjust(left=0.075, right=0.985, top=0.82, bottom=0.11, wspace=0.08)
    for axes, device in zip(all_axes[0], devices):
        panel(axes, device, [point for point in points if point.device == device])
    all_axes[0][0].set_ylabel("relative L2 error against double")
    save(figure, folder / "precisions")


if __name__ == "__main__":
    main()
