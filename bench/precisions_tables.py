# SPDX-License-Identifier: Apache-2.0
"""Errors and times of all precisions from what bench_dense_precisions, bench_cuda_tensor and bench_cuda_compact wrote: points for the
figure, and tables for bench/tables.py. Standard library only."""
import collections
import json
import math
import pathlib

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
FILES = (("cpu", "precisions.json"), ("h200", "tensor.json"), ("h200", "compact.json"))
STORED = ("f16", "bf16", "block16")

# One case: time relative to float on the same device (built_in on a CPU, cuFFT on a GPU), relative L2 error.
Point = collections.namedtuple("Point", "device case precision times_of_float error")


def load(file):
    return json.loads(pathlib.Path(file).read_text(encoding="utf-8"))


def number(value):
    """A finite positive number, or None: rows say "overflow", or that a contender failed or was refused."""
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value > 0
    return float(value) if good else None


def points_of(data):
    """Points of a results file. A contender without a time or an error, or in a case without float's time, has none."""
    found = []
    for row in data["rows"]:
        floats = row.get("cufft f32") or row.get("float") or row.get("f32")
        base = number(floats.get("us")) if isinstance(floats, dict) else None
        if base is None:
            continue
        for precision, entry in row.items():
            if not isinstance(entry, dict):
                continue
            us, error = number(entry.get("us")), number(entry.get("relative_l2"))
            if us is None or error is None:
                continue
            ratio = number(entry.get("times_of_f32")) or us / base
            found.append(Point(data.get("device") or data["processor"], row["name"], precision, ratio, error))
    return found


def measured_files():
    return [RESULTS / folder / name for folder, name in FILES if (RESULTS / folder / name).exists()]


def error_text(value):
    return "–" if number(value) is None else f"{value:.1e}".replace("e-0", "e-")


def gaussian_rows():
    return [row for row in load(RESULTS / "cpu" / "precisions.json")["rows"] if row["signal"] == "gaussian"]


def table_errors():
    lines = ["| transform | `f64` | `f32` | `f16` | predicted | `bf16` | predicted | `block16` | predicted |", "|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for row in gaussian_rows():
        cells = [error_text(row[name].get("relative_l2")) for name in ("f64", "f32")]
        for name in STORED:
            cells += [error_text(row[name]["relative_l2"]), error_text(row[name]["predicted"])]
        lines.append(f"| {'real' if row['real'] else 'complex'} {row['shape']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def table_signals():
    lines = ["| 4096 points | `f32`: whole, median | `f16` | reported | `bf16` | reported | `block16` | reported |", "|---|---:|---:|---:|---:|---:|---:|---:|"]
    rows = [row for row in load(RESULTS / "cpu" / "precisions.json")["rows"] if row["shape"] == "4096"]
    for row in rows:
        cells = []
        for name in ("f32", *STORED):
            cells.append(f"{error_text(row[name]['relative_l2'])}, {error_text(row[name]['median_relative'])}")
            if name in STORED:
                cells.append(error_text(row[name]["reported"]))
        lines.append(f"| {'real' if row['real'] else 'complex'} {row['signal']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def table_times():
    lines = ["| CPU time over `f32`'s | `f64` | `f16` | `bf16` | `block16` |", "|---|---:|---:|---:|---:|"]
    for row in gaussian_rows():
        cells = [f"{row[name]['times_of_f32']:.2f}" for name in ("f64", *STORED)]
        lines.append(f"| {'real' if row['real'] else 'complex'} {row['shape']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def batch_text(row):
    return f"{row['points']} points, batch {row['batch']}" if row["batch"] > 1 else f"2^{row['points'].bit_length() - 1} points"


def cell(entry, with_error):
    us = number(entry.get("us"))
    if us is None:
        return "–"
    time = f"{us:.0f}" if us >= 100 else f"{us:.3g}"
    error = entry.get("relative_l2")
    return time if not with_error else f"{time}, " + (error if isinstance(error, str) else f"{error:.1e}")


def table_tensor():
    lines = ["| complex transforms | tensor, error | cuFFT | tuned | cuFFT's half, error | fp16 products without the split, error |", "|---|---|---|---|---|---|"]
    for row in load(RESULTS / "h200" / "tensor.json")["rows"]:
        cells = [cell(row[name], error) for name, error in (("tensor", True), ("cufft f32", False), ("tuned f32", False), ("cufft f16", True), ("unsplit f16", True))]
        lines.append(f"| {batch_text(row)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def compact_rows():
    """Batched lines first, by length."""
    def place(row):
        _, shape, _, batch = row["name"].split()
        single = "x" in shape or batch == "1"
        return single, "x" in shape, 0 if "x" in shape else int(shape)
    return sorted(load(RESULTS / "h200" / "compact.json")["rows"], key=place)


def case_text(name):
    """c2c 4096 batch 8192 -> 4096; r2c 1080x1920 batch 32 -> real 1080x1920, batch 32."""
    kind, shape, _, batch = name.split()
    if "x" not in shape:
        n = int(shape)
        return f"{n:,}" if batch != "1" else f"one of 2^{n.bit_length() - 1}"
    return ("real " if kind == "r2c" else "") + shape.replace("x", "×") + (f", batch {batch}" if batch != "1" else "")


def table_compact():
    """Microseconds of float, and how many times as fast 16 bits are."""
    lines = ["| complex | float, µs | `f16` | 16 bits between steps too | `bf16` | `block16` | against cuFFT's half | error of `f16` | of cuFFT's half |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for row in compact_rows():
        us = {name: number(entry.get("us")) for name, entry in row.items() if isinstance(entry, dict)}
        best = min(time for time in (us["f16"], us.get("f16 between")) if time)
        times = [f"{us['float'] / us[name]:.2f}×" if us.get(name) else "–" for name in ("f16", "f16 between", "bf16", "block16")]
        half = f"{us['cufft f16'] / best:.2f}×" if us.get("cufft f16") else "–"
        lines.append(f"| {case_text(row['name'])} | {us['float']:.3g} | " + " | ".join(times) +
                     f" | {half} | {error_text(row['f16'].get('relative_l2'))} | {error_text(row['cufft f16'].get('relative_l2'))} |")
    return "\n".join(lines)


TABLES = {"compact": table_compact, "tensor": table_tensor, "precision-errors": table_errors, "precision-signals": table_signals, "precision-times": table_times}
