# SPDX-License-Identifier: Apache-2.0
"""The tables of dense transforms of host memory, for bench/tables.py: arrays that exceed the GPU, threads, random shapes on one core."""
import json
import math

from gpu_tables import RESULTS

# Those that were measured.
SWEEPS = [name for name in ("2d28", "3d1024", "3d1024_again", "3d3072", "1d28_apart", "1d28", "real_apart", "real", "1d29_real_apart")
          if (RESULTS / f"out_of_core_{name}.json").exists()]


def load(name):
    with open(RESULTS / f"{name}.json", encoding="utf-8") as file:
        return json.load(file)


def points_of(shape):
    product = 1
    for extent in shape.split("x"):
        product *= int(extent)
    return product


def shape_text(shape, real):
    return f"{shape.replace('x', ' × ')} {'real' if real else 'complex'}"


def fftw_ratios(rows, threads, ms):
    """How much longer FFTW takes with so many threads; a dash where it did not run."""
    return next((f"{row['ms'] / ms:.1f}×" for row in rows if row.get("fftw_threads") == threads), "–")


def table_out_of_core():
    lines = ["| float | GPUs, budget of each | the host's share of each round | ms | GB/s of data | of two trips over the bus | FFTW, 4 / 16 threads | rounds: predicted → measured, ms |",
             "|---|---:|---|---:|---:|---:|---:|---|"]
    for name in SWEEPS:
        data = load(f"out_of_core_{name}")
        place = "apart" if data.get("apart") else "in place"
        for row in data["rows"]:
            if "fftw_threads" in row:
                continue
            gpus = row.get("gpus", 1)
            bus = data["bus_gb_s"] if gpus == 1 else data["buses_gb_s"][str(gpus)]
            bytes_of_array = points_of(row["shape"]) * (4 if data["real"] else 8)
            # Each pass takes the array in and out at once.
            trips_ms = 2e3 * bytes_of_array / (1e9 * min(bus["in_of_both"], bus["out_of_both"]))
            # Those of the steps taken: out-of-place calls come after in-place calls.
            shares = ", ".join(f"{share:.2f}" for share in row["host_shares"][-len(row["rounds"]):])
            measured = "measured: " if row["asked_share"] < 0 else ""
            rounds = ", ".join(f"{r['predicted_ms']:.0f} → {r['ms']:.0f}" for r in row["rounds"])
            fftw = " / ".join(fftw_ratios(data["rows"], threads, row["ms"]) for threads in (4, 16))
            budget = f"{gpus}, {row['budget_bytes'] / 1e9:g} GB" if row["budget_bytes"] > 0 else f"{gpus}, all"
            lines.append(f"| {shape_text(row['shape'], data['real'])}, {place} | {budget} | {measured}{shares} | {row['ms']:.0f} | "
                         f"{1e-6 * bytes_of_array / row['ms']:.1f} | {100 * trips_ms / row['ms']:.0f} % | {fftw} | {rounds} |")
    return "\n".join(lines)


def table_threads():
    data = load("dense_threads")
    lines = ["| float | sfft, 1 thread, ms | FFTW | ratio | sfft, 16 threads, ms | FFTW | ratio | sfft, 16 threads against 1 |",
             "|---|---:|---:|---:|---:|---:|---:|---:|"]
    by_work = {}
    for row in data["rows"]:
        by_work.setdefault((row["shape"], row["real"]), {})[row["threads"]] = row
    for (shape, real), rows in by_work.items():
        one, many = rows[1], rows[16]
        lines.append(f"| {shape_text(shape, real)} | {one['ms']:.3g} | {one['fftw_ms']:.3g} | {one['ratio']:.2f}× | {many['ms']:.3g} | "
                     f"{many['fftw_ms']:.3g} | {many['ratio']:.2f}× | {one['ms'] / many['ms']:.1f}× |")
    return "\n".join(lines)


def population():
    with open(RESULTS.parent / "cpu" / "dense_population.json", encoding="utf-8") as file:
        return json.load(file)


def table_population():
    """Random shapes by the number of points of one transform; ratios are geometric means."""
    rows = population()["rows"]
    lines = ["| points | shapes | faster than FFTW | FFTW's time over the library's, geometric mean |", "|---|---:|---:|---:|"]
    for text, low, high in (("up to 63", 0, 64), ("64 … 1,023", 64, 1024), ("1,024 … 16,383", 1024, 16384), ("from 16,384", 16384, math.inf), ("**all**", 0, math.inf)):
        ratios = [row["ratio"] for row in rows if low <= points_of(row["shape"]) < high]
        mean = math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))
        lines.append(f"| {text} | {len(ratios)} | {sum(ratio > 1 for ratio in ratios)} | **{mean:.2f}×** |")
    return "\n".join(lines)


def table_population_context():
    data = population()
    lines = ["| file | commit | processor | largest error of `float` | command |", "|---|---|---|---:|---|"]
    error = max(row["relative_l2_to_double_fftw"] for row in data["rows"] if row["kind"] in ("f32", "c64"))
    lines.append(f"| `bench/results/cpu/dense_population.json` | {data['commit']} | {data['processor']} | {error:.1e} | `{data['command']}` |")
    return "\n".join(lines)


def table_several_gpus():
    lines = ["| float, in device memory | cuFFT on one GPU, µs | cuFFT Xt on two | sfft on two | inverse | against cuFFT, Xt | relative L2 |", "|---|---:|---:|---:|---:|---|---:|"]
    for row in load("several_gpus")["rows"]:
        sfft, one, two = row["sfft"], row["cufft"]["forward_us"], row["cufft_xt"]["forward_us"]
        us, fewer = sfft["forward_us"], " on one" if sfft["places"] == 1 else ""
        lines.append(f"| {shape_text(row['shape'], row['real'])} | {one:.0f} | {two:.0f} | {us:.0f}{fewer} | {sfft['inverse_us']:.0f} | **{one / us:.2f}×**, {two / us:.2f}× | {sfft['error']:.1e} |")
    return "\n".join(lines)


def table_context():
    lines = ["| file | commit | command |", "|---|---|---|"]
    for name in [f"out_of_core_{sweep}" for sweep in SWEEPS] + ["dense_threads", "several_gpus"]:
        data = load(name)
        lines.append(f"| `bench/results/h200/{name}.json` | {data['commit']} | `{data['command']}` |")
    return "\n".join(lines)


TABLES = {"out-of-core": table_out_of_core, "dense-threads": table_threads, "several-gpus": table_several_gpus, "large-context": table_context,
          "dense-population": table_population, "dense-population-context": table_population_context}
