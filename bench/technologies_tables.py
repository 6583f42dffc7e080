# SPDX-License-Identifier: Apache-2.0
"""Tables of docs/technologies.md from the JSON of sfft-bench technologies."""
import json
import math
import pathlib
import re

from table_text import time_text

BENCH = pathlib.Path(__file__).resolve().parent
RESULTS = BENCH / "results"
SOURCES = BENCH / "technologies"
SIZES_1D = (4, 8, 12, 14, 16, 18, 20, 22, 24, 26)
SIZES_2D = (6, 7, 8, 9, 10, 11, 12, 13)

# Host and kernel files of a port; what all ports share counts for none of them.
FILES = {
    "C++": (["cpu_port.cpp", "constant_geometry.hpp"], []),
    "OpenMP": (["openmp_port.cpp", "constant_geometry.hpp"], []),
    "CUDA": (["cuda_port.cpp", "cuda_launch.hpp", "cuda_port.cu", "cuda_device.hpp"], ["kernels/kernels.cuh"]),
    "HIP": (["hip_port.cpp"], ["kernels/kernels.cuh"]),
    "OpenCL": (["opencl_port.cpp", "opencl_api.cpp", "opencl_api.hpp"], ["kernels/kernels.cl"]),
    "OpenGL": (["opengl_port.cpp", "opengl_api.cpp", "opengl_api.hpp"], ["kernels/kernels.glsl"]),
    "Vulkan GLSL": (["vulkan_port.cpp", "vulkan_api.cpp", "vulkan_api.hpp", "spirv_glslang.cpp"], ["kernels/kernels.glsl"]),
    "Vulkan HLSL": (["vulkan_port.cpp", "vulkan_api.cpp", "vulkan_api.hpp", "spirv_glslang.cpp"], ["kernels/kernels.hlsl"]),
}
# Vendors whose drivers have it, systems, and when kernels are compiled: facts of the interfaces, not of a measurement.
PORTABILITY = {
    "C++": ("every processor", "with the program"),
    "OpenMP": ("every processor whose compiler has it", "with the program"),
    "CUDA": ("NVIDIA; Linux, Windows", "with the program"),
    "HIP": ("AMD, and NVIDIA over CUDA; Linux, Windows", "with the program"),
    "OpenCL": ("NVIDIA, AMD, Intel, Arm, processors; Linux, Windows, Android", "by the driver, at start"),
    "OpenGL": ("NVIDIA, AMD, Intel, software; 4.3 on Linux and Windows, not on macOS", "by the driver, at start"),
    "Vulkan GLSL": ("NVIDIA, AMD, Intel, Arm, Qualcomm, software; macOS over Metal", "to SPIR-V ahead or at start, then by the driver"),
    "Vulkan HLSL": ("as Vulkan; the kernels also fit DirectX", "to SPIR-V ahead or at start, then by the driver"),
}


def load(folder):
    """Both files of a machine as one: the GPU's, and the host's where it was measured apart."""
    with open(RESULTS / folder / "technologies.json", encoding="utf-8") as opened:
        data = json.load(opened)
    host = RESULTS / folder / "technologies_host.json"
    if host.exists():
        with open(host, encoding="utf-8") as opened:
            more = json.load(opened)
        measured = {row["technology"] for row in more["technologies"]}
        for key in ("technologies", "rows"):
            data[key] = [row for row in data[key] if row["technology"] not in measured] + more[key]
    return data


def names_of(data):
    names = []
    for row in data["technologies"] + data["rows"]:
        if row["technology"] not in names:
            names.append(row["technology"])
    return names


def time_of(row):
    """By the device's clock where it has one, or wall clock."""
    return row["device_us"] if row.get("device_us") else row.get("wall_us")


def timed(data, kind="time"):
    """(technology, problem) -> row, for the first device."""
    found = {}
    for row in data["rows"]:
        if row.get("kind") == kind and not row["skipped"] and row.get("passed"):
            found.setdefault((row["technology"], row["problem"]), row)
    return found


def grid(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)] + ["| " + " | ".join(row) + " |" for row in rows])


def table_found(folder):
    data = load(folder)
    rows = []
    for name in names_of(data):
        reasons = [entry["skipped"] for entry in data["technologies"] if entry["technology"] == name and entry["skipped"]]
        facts = next((entry for entry in data["technologies"] if entry["technology"] == name and not entry["skipped"]), None)
        mine = [row for row in data["rows"] if row["technology"] == name and row.get("kind") != "sincos"]
        right = [row for row in mine if row.get("passed")]
        wrong = [row for row in mine if row.get("passed") is False]
        without = {row["skipped"] for row in mine if row["skipped"]}
        worst = max((row["relative_l2"] / row["bound"] for row in right + wrong if row["relative_l2"] is not None), default=None)
        rows.append([name, f"{facts['device']}, {facts['driver']}" if facts else "–", str(len(right)), str(len(wrong)),
                     f"{worst:.2f}" if worst is not None else "–", clean("; ".join(reasons + sorted(without)[:2]))])
    text = grid(["technology", "device, driver", "rows right", "wrong", "worst error / bound", "what is missing, and why"], rows)
    return f"Commit {data['commit']}, `{data['command']}`.\n\n{text}"


def clean(text):
    """One line of a table, of a log that may be long."""
    text = re.sub(r"\s+", " ", text).replace("|", "/")
    return text if len(text) <= 160 else text[:157] + "…"


def problem_names(rank, batch=None):
    if batch is not None:
        return batch
    return [f"2^{bits}" for bits in SIZES_1D] if rank == 1 else [f"{1 << bits}x{1 << bits}" for bits in SIZES_2D]


def table_times(folder, problems):
    data = load(folder)
    found = timed(data)
    problems = [name for name in problems if any(key[1] == name for key in found)]
    rows = []
    for name in names_of(data):
        cells = []
        for problem in problems:
            row, base = found.get((name, problem)), found.get(("CUDA", problem))
            text = time_text(time_of(row)) if row else "–"
            if row and base and name != "CUDA":
                text += f" ({time_of(row) / time_of(base):.2g})"
            cells.append(text)
        if any(cell != "–" for cell in cells):
            rows.append([name] + cells)
    return grid([""] + problems, rows)


def batches(data):
    seen = []
    for row in data["rows"]:
        if row.get("batch", 1) > 1 and row["problem"] not in seen:
            seen.append(row["problem"])
    return seen


def table_overhead(folder):
    data = load(folder)
    found = timed(data)
    rows = []
    for name in names_of(data):
        cells = []
        for problem in ("2^1", "2^12", "2^20", "2^26"):
            row = found.get((name, problem))
            if row is None or row["overhead_us"] is None:
                cells += ["–"]
            else:
                submit = time_text(row["submit_us"]) if row["submit_us"] is not None else "–"
                cells += [f"{time_text(row['device_us'])} + {time_text(row['overhead_us'])} (calls {submit})"]
        if any(cell != "–" for cell in cells):
            rows.append([name] + cells)
    return grid(["device's clock + the rest of the wall clock", "2^1", "2^12", "2^20", "2^26"], rows)


def table_traffic(folder):
    """Bytes that the launches read and write over time, compared with a copy."""
    data = load(folder)
    found = timed(data)
    copy = next((entry["copy_bytes_per_s"] for entry in data["technologies"] if entry.get("copy_bytes_per_s")), None)
    rows = []
    problems = ("2^16", "2^20", "2^22", "2^24", "2^26", "4096x4096", "8192x8192")
    for name in names_of(data):
        cells = []
        for problem in problems:
            row = found.get((name, problem))
            if row is None or row["traffic_bytes"] is None or row["device_us"] is None:
                cells.append("–")
                continue
            rate = row["traffic_bytes"] / row["device_us"] * 1e6
            share = f" ({100 * rate / copy:.0f} %)" if copy else ""
            cells.append(f"{rate * 1e-9:.0f} GB/s{share}")
        if any(cell != "–" for cell in cells):
            rows.append([name] + cells)
    head = f"A copy in the device's memory: {copy * 1e-9:.0f} GB/s read and written.\n\n" if copy else ""
    return head + grid(["traffic of the launches over time"] + list(problems), rows)


def table_sweep(folder):
    data = load(folder)
    groups = {}
    for row in data["rows"]:
        if row.get("kind") == "sweep" and row.get("passed"):
            groups.setdefault((row["technology"], row["problem"]), []).append(row)
    problems = []
    for _, problem in groups:
        if problem not in problems:
            problems.append(problem)
    problems = [name for name in problems if name in ("2^13", "2^17", "2^21", "2^25", "1024x1024", "4096x4096")] or problems
    rows = []
    for name in names_of(data):
        cells = []
        for problem in problems:
            group = sorted(groups.get((name, problem), []), key=time_of)
            if not group:
                cells.append("–")
                continue
            best, worst = group[0], group[-1]
            tile = f", tile {best['tile']}" if best["tile"] else ""
            cells.append(f"{best['threads']}{tile} (worst {worst['threads']}: {time_of(worst) / time_of(best):.2g}×)")
        if any(cell != "–" for cell in cells):
            rows.append([name] + cells)
    return grid(["fastest threads per group"] + problems, rows)


def table_sincos(folder):
    data = load(folder)
    rows = []
    for row in data["rows"]:
        if row.get("kind") != "sincos" or row["skipped"]:
            continue
        ours = timed(data).get((row["technology"], row["problem"]))
        if ours:
            rows.append([row["technology"], row["problem"], f"{ours['relative_l2']:.1e}", time_text(time_of(ours)), f"{row['relative_l2']:.1e}",
                         time_text(time_of(row)), f"{row['bound']:.1e}"])
    return grid(["", "size", "polynomials: error", "time", "built-in sine: error", "time", "bound"], rows)


def lines_of(files):
    """Lines that are neither blank nor only a comment."""
    count = 0
    for name in files:
        path = SOURCES / name
        if path.exists():
            count += sum(1 for line in path.read_text(encoding="utf-8").splitlines() if line.strip() and not line.strip().startswith("//"))
    return count


def table_effort(folder):
    data = load(folder)
    rows = []
    for name, (host, kernels) in FILES.items():
        facts = next((entry for entry in data["technologies"] if entry["technology"] == name and not entry["skipped"]), None)
        if facts is None and name == "HIP":
            continue
        limits = []
        if facts:
            for key, text in (("group_threads", "{} threads per group"), ("shared_bytes", "{} bytes shared"), ("buffer_bytes", "{:.3g} GB per buffer")):
                if facts.get(key):
                    value = facts[key] * 1e-9 if key == "buffer_bytes" else facts[key]
                    limits.append(text.format(value))
        hit = {clean(row["skipped"]) for row in data["rows"] if row["technology"] == name and row["skipped"] and row.get("kind") != "sincos"}
        where, compiled = PORTABILITY[name]
        rows.append([name, str(len(facts["steps"])) if facts else "–", str(lines_of(host)), str(lines_of(kernels)) if kernels else "–", compiled,
                     ", ".join(limits) or "–", "; ".join(sorted(hit)[:2]) or "none", where])
    return grid(["", "calls before the first launch", "lines, host", "lines, kernels", "kernels are compiled", "limits here", "limits hit", "where it runs"],
                rows)


def published():
    return json.loads((SOURCES / "published.json").read_text(encoding="utf-8"))


OURS = {"DirectCompute": "Vulkan HLSL"}


def table_published(folder):
    data, theirs = load(folder), published()
    found = timed(data)
    rows = []
    for entry in theirs["measured"]:
        cells = [f"{entry['technology']}, {entry['device']}"]
        for problem in ("2^20", "2^26", "4096x4096"):
            row = found.get((OURS.get(entry["technology"], entry["technology"]), problem))
            cells.append(f"{time_text(entry['us'][problem])} / {time_text(time_of(row)) if row else '–'}")
        rows.append(cells + [entry["reproduced"]])
    for entry in theirs["other_vendors"]:
        rows.append([f"{entry['technology']}, {entry['device']}", "–", "–", "–", f"{entry['reproduced']} ({entry['result']})"])
    text = grid(["published / here", "2^20", "2^26", "4096×4096", ""], rows)
    ratios = []
    for entry in theirs["ratios"]:
        above, below, rank = entry["ours"]
        pairs = [(found[(above, problem)], found[(below, problem)]) for problem in problem_names(rank)
                 if (above, problem) in found and (below, problem) in found and found[(above, problem)]["points"] >= 1 << 16]
        mean = math.exp(sum(math.log(time_of(a) / time_of(b)) for a, b in pairs) / len(pairs)) if pairs else None
        ratios.append([entry["what"], f"{entry['published']:g}", f"{mean:.2f}" if mean else "–"])
    return text + "\n\n" + grid(["ratio (here: geometric mean from 2^16 points on)", "published", "here"], ratios)


def for_both(name, make):
    return {f"technologies-{name}": lambda: make("h200"), f"technologies-{name}-cpu": lambda: make("cpu")}


TABLES = {**for_both("found", table_found),
          **for_both("1d", lambda folder: table_times(folder, problem_names(1))),
          **for_both("2d", lambda folder: table_times(folder, problem_names(2))),
          **for_both("batch", lambda folder: table_times(folder, batches(load(folder)))),
          **for_both("overhead", table_overhead), **for_both("traffic", table_traffic), **for_both("sweep", table_sweep),
          **for_both("sincos", table_sincos), **for_both("effort", table_effort), **for_both("published", table_published)}
