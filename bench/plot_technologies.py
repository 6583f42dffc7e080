#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws sfft-bench technologies: time against size in 1D and 2D, and the ports' times over CUDA's.

usage: bench/plot_technologies.py [bench/results/h200/technologies.json] [-o FOLDER] [--format svg|png]      Needs Matplotlib.
"""
import json
import pathlib

from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

from plot import measured, plt, points_text, save, time_text
from technologies_tables import names_of, time_of

LOOKS = {
    "C++": ("#888888", "s", "-"), "OpenMP": ("#444444", "D", "-"), "CUDA": ("#009e73", "o", "-"), "OpenCL": ("#d55e00", "^", "-"),
    "OpenGL": ("#0072b2", "v", "-"), "Vulkan GLSL": ("#cc79a7", "<", "-"), "Vulkan HLSL": ("#b03060", ">", "-"), "HIP": ("#e69f00", "P", "-"),
    "cuFFT": ("#009e73", "o", "--"), "VkFFT CUDA": ("#e69f00", "P", "--"), "VkFFT OpenCL": ("#d55e00", "^", "--"),
    "VkFFT Vulkan": ("#cc79a7", "<", "--"), "clFFT": ("#b8860b", "X", "--"), "FFTW": ("#888888", "s", "--"), "FFTW threads": ("#444444", "D", "--"),
    "sfft CPU": ("#56b4e9", "*", "--"), "sfft CUDA": ("#0072b2", "*", "--"),
}


def host_rows(path):
    """The host's technologies, where they were measured apart."""
    host = pathlib.Path(path).with_name("technologies_host.json")
    return json.loads(host.read_text(encoding="utf-8"))["rows"] if host.exists() else []


def lines(rows, rank):
    """technology -> [(points, time)]"""
    found = {}
    for row in rows:
        if row.get("kind") == "time" and row["rank"] == rank and row["batch"] == 1 and not row["skipped"] and row["passed"]:
            found.setdefault(row["technology"], {})[row["points"]] = time_of(row)
    return {name: sorted(values.items()) for name, values in found.items()}


def size_axis(axes, drawn, rank):
    sizes = sorted({x for line in drawn.values() for x, _ in line})
    axes.set_xscale("log", base=2)
    shown = sizes if rank == 2 else [x for x in sizes if x.bit_length() % 4 == 3]
    axes.xaxis.set_major_locator(FixedLocator(shown))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{int(v ** 0.5 + 0.5)}²" if rank == 2 else points_text(v)))
    axes.xaxis.set_minor_formatter(NullFormatter())


def draw(axes, drawn, rank, base=None):
    for name in drawn:
        reference = dict(drawn.get(base, [])) if base else None
        line = [(x, y / reference[x] if base else y) for x, y in drawn[name] if not base or x in reference]
        colour, marker, dash = LOOKS.get(name, ("#000000", ".", ":"))
        axes.plot([x for x, _ in line], [y for _, y in line], color=colour, marker=marker, linestyle=dash, markersize=4, linewidth=1.1, label=name)
    size_axis(axes, drawn, rank)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter((lambda v, _: f"{v:g}×") if base else time_text))


def main():
    import sys
    data, folder = measured(__doc__, "technologies.json")
    given = next((argument for argument in sys.argv[1:] if argument.endswith(".json")), pathlib.Path(__file__).parent / "results/h200/technologies.json")
    more = host_rows(given)
    apart = {row["technology"] for row in more}
    rows = [row for row in data["rows"] if row["technology"] not in apart] + more
    device = next((entry["device"] for entry in data["technologies"] if entry.get("gpu")), data["processor"])

    figure, both = plt.subplots(1, 2, figsize=(12, 5.6))
    figure.subplots_adjust(left=0.06, right=0.84, top=0.88, bottom=0.08, wspace=0.18)
    for axes, rank in zip(both, (1, 2)):
        draw(axes, lines(rows, rank), rank)
        axes.set_title(f"{rank}D", loc="left", fontsize=11, fontweight="bold")
    handles, labels = both[0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, loc="center left", bbox_to_anchor=(0.845, 0.5), fontsize=9)
    figure.suptitle(f"One complex FFT in every technology, single precision, {device}; dashed: libraries", x=0.02, ha="left", fontsize=12.5)
    save(figure, folder / "technologies_time")

    ports = [name for name in names_of(data) if name in ("CUDA", "OpenCL", "OpenGL", "Vulkan GLSL", "Vulkan HLSL", "HIP", "cuFFT")]
    base = "CUDA" if any(row["technology"] == "CUDA" and row.get("kind") == "time" for row in rows) else "OpenCL"
    figure, both = plt.subplots(1, 2, figsize=(12, 4.4))
    figure.subplots_adjust(left=0.06, right=0.84, top=0.86, bottom=0.1, wspace=0.18)
    for axes, rank in zip(both, (1, 2)):
        drawn = {name: line for name, line in lines(rows, rank).items() if name in ports}
        draw(axes, drawn, rank, base)
        axes.set_title(f"{rank}D", loc="left", fontsize=11, fontweight="bold")
    handles, labels = both[0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, loc="center left", bbox_to_anchor=(0.845, 0.5), fontsize=9)
    figure.suptitle(f"Time over {base}'s, {device}", x=0.02, ha="left", fontsize=12.5)
    save(figure, folder / "technologies_ratio")


if __name__ == "__main__":
    main()
