# SPDX-License-Identifier: Apache-2.0
"""The tables of bench/results/h200/dense.json, for bench/tables.py."""
import collections
import json
import math

from gpu_tables import RESULTS, of_group

CONTENDERS = ("tuned", "cuFFT", "VkFFT")


def load():
    with open(RESULTS / "dense.json", encoding="utf-8") as file:
        data = json.load(file)
    return data, data["rows"]


def of(row, contender, key, form):
    value = row.get(contender, {}).get(key)
    return "–" if value is None else form.format(value)


def time_text(us):
    return f"{us:.4g}" if us >= 100 else f"{us:.3g}"


def times(row, contender, key):
    value = row.get(contender, {}).get(key)
    return "–" if value is None else time_text(value)


def ratio(row):
    value = row["tuned"].get("ratio")
    if value is None:
        return "–"
    return f"**{value:.2f}×**" if row["target"] is None or value >= row["target"] else f"{value:.2f}×"


def reasons(rows):
    """Why contenders have no time, each reason once."""
    found = collections.defaultdict(list)
    for row in rows:
        if "failed" in row:
            found[row["failed"]].append(row["name"])
        for contender, texts in row.get("missing", {}).items():
            if row.get(contender, {}).get("us") is None:
                for text in texts:
                    found[f"{contender}: {text}"].append(row["name"])
    return "".join(f"\n\n{', '.join(names)}: {text}." for text, names in found.items())


def transforms(rows, what="transform"):
    """Times of one transform, but of all of them for batches of short lines."""
    lines = [f"| {what} | tuned, µs | cuFFT | VkFFT | ratio | held to | automatic | ratio | GFLOPS | passes | floor, µs | relative L2: tuned | cuFFT | VkFFT | tuning, s |",
             "|---|---:|---:|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for row in rows:
        if "failed" in row:
            lines.append(f"| {row['name']} |" + " – |" * 14)
            continue
        key = "batch_us" if row["name"].endswith(", batched") else "us"
        target = "" if row["target"] is None else f"{row['target']:g}×"
        floor = row["floor_us"] * (row["batch"] if key == "batch_us" else 1)
        errors = " | ".join(of(row, contender, error_of(row), "{:.1e}") for contender in CONTENDERS)
        lines.append(f"| {row['name']} | {' | '.join(times(row, contender, key) for contender in CONTENDERS)} | {ratio(row)} | {target} | "
                     f"{row['automatic'].get('engine', '–')} {times(row, 'automatic', key)} | {of(row, 'automatic', 'ratio', '{:.2f}×')} | "
                     f"{of(row, 'tuned', 'gflops', '{:,.0f}')} | {of(row, 'tuned', 'passes', '{:.2f}')} | {time_text(floor)} | {errors} | "
                     f"{of(row, 'tuned', 'plan_s', '{:.2g}')} |")
    return "\n".join(lines) + reasons(rows)


def error_of(row):
    """Against cuFFT in double; where that is itself a contender, against direct sums."""
    return "direct_l2" if row["precision"] == "double" else "relative_l2"


def table_lines():
    return transforms(of_group(load()[1], "1d", "large"))


def table_frames():
    return transforms(of_group(load()[1], "2d", "inverse"), "frames, times per frame")


def table_cubes():
    return transforms(of_group(load()[1], "3d"))


def table_batched():
    return transforms(of_group(load()[1], "batched", "primes"), "lines, times of 256 MiB")


def table_double():
    return transforms(of_group(load()[1], "double"))


def table_held():
    """How many rows reach what they are held to; a row without a time does not."""
    lines = ["| rows | held to | reached | smallest ratio | automatic no slower than the faster peer |", "|---|---|---:|---:|---:|"]
    measured = [row for row in load()[1] if row["group"] in ("1d", "large", "2d", "3d", "batched", "primes")]
    for group in dict.fromkeys(row["group"] for row in measured):
        chosen = of_group(measured, group)
        rows = [row for row in chosen if "failed" not in row]
        targets = sorted({row["target"] for row in rows}) or [0]
        held = " to ".join(f"{t:g}×" for t in dict.fromkeys((targets[0], targets[-1])))
        reached = sum((row["tuned"]["ratio"] or 0) >= row["target"] for row in rows)
        smallest = min((row["tuned"]["ratio"] for row in rows if row["tuned"]["ratio"]), default=0)
        # The same kernel measured twice in one process differs by a few per cent.
        automatic = sum((row["automatic"]["ratio"] or 0) >= 0.97 for row in rows)
        lines.append(f"| {group} | {held} | {reached} of {len(chosen)} | {smallest:.2f}× | {automatic} of {len(chosen)} |")
    passes = [row for row in measured if row.get("target_passes") is not None]
    if passes:
        reached = sum((row["tuned"].get("passes") or 99) <= row["target_passes"] for row in passes)
        lines.append(f"| batched, passes | at most {passes[0]['target_passes']:g} | {reached} of {len(passes)} | | |")
    return "\n".join(lines)


def table_host():
    lines = ["| transform | engine | overlapped, ms | in turn | cuFFT in turn | copy in | copy out | both at once | against in turn | cuFFT | pageable memory, ms | relative L2 |",
             "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    keys = ("forward_us", "in_turn_us", "cufft_in_turn_us", "copy_in_us", "copy_out_us", "copies_at_once_us")
    rows = of_group(load()[1], "host")
    for row in rows:
        if "failed" in row:
            continue
        spans = " | ".join(f"{1e-3 * row[key]:.3g}" for key in keys)
        error = f"{row['relative_l2']:.1e}" if row["correct"] else "wrong"
        lines.append(f"| {row['n']}^3, batch {row['batch']} | {row['engine']} | {spans} | **{row['ratio']:.2f}×** | {row['ratio_cufft']:.2f}× | "
                     f"{1e-3 * row['forward_pageable_us']:.3g} | {error} |")
    return "\n".join(lines) + reasons([row for row in rows if "failed" in row])


def table_selective():
    """What a selective plan costs, against the whole transform by cuFFT and a search of its results."""
    lines = ["| transform, times of one | whole, tuned, µs | kept above a magnitude | hooked, µs | cuFFT and a search | ratio | 1000 of a support: hooked, µs | cuFFT and a gather | ratio | relative L2 |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    rows = of_group(load()[1], "selective")
    whole = {row["name"]: times(row, "tuned", "us") for row in load()[1] if "tuned" in row}
    for row in rows:
        if "failed" in row:
            continue
        name = row["name"].removesuffix(", selected")
        cells = [name, whole[name], f"{row['above']['tuned']['kept'] / row['batch']:,.0f}"]
        for kind in ("above", "at"):
            cells += [time_text(row[kind]["tuned"]["us"]), time_text(row[kind]["cufft"]["us"]), f"**{row[kind]['ratio']:.2f}×**"]
        right = all(row[kind][engine]["correct"] for kind in ("above", "at") for engine in ("tuned", "cufft"))
        cells.append(f"{max(row[kind]['tuned']['relative_l2'] for kind in ('above', 'at')):.1e}" if right else "wrong")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + reasons([row for row in rows if "failed" in row])


def table_memory():
    """Copies alone, of the pattern that two trips through memory would have."""
    rows = [row for row in of_group(load()[1], "memory") if "failed" not in row]
    found = {}
    for row in rows:
        for copy in row["copies"]:
            found.setdefault(copy["way"], {})[row["n"], copy["strided"]] = copy["tb_s"]
    columns = [(row["n"], strided) for row in rows for strided in ("in", "out", "both")]
    lines = ["| tiles of | " + " | ".join(f"2^{n.bit_length() - 1}, strided {strided}" for n, strided in columns) + " |", "|---|" + "---:|" * len(columns)]
    for way, rates in found.items():
        lines.append(f"| {way} | " + " | ".join(f"{rates[column]:.2f}" if column in rates else "–" for column in columns) + " |")
    return "\n".join(lines)


def right_trials(row):
    return sorted((trial for trial in row["trials"] if trial["correct"]), key=lambda trial: trial["us"])


def table_padding():
    """By the order of radices that is fastest in the end."""
    lines = ["| n | radices | threads | padding | µs of 256 MiB | passes | against none |", "|---:|---|---:|---:|---:|---:|---:|"]
    for row in of_group(load()[1], "ablation"):
        trials = right_trials(row) if "trials" in row else []
        best = {}
        for trial in trials:
            if trial["radices"] == trials[0]["radices"]:
                best.setdefault(trial["pad"], trial)
        for pad, trial in sorted(best.items()):
            gain = f"{best[0]['us'] / trial['us']:.2f}×" if 0 in best else "–"
            lines.append(f"| {row['n']} | {trial['radices']} | {trial['threads']} | {pad or 'none'} | {trial['us']:.4g} | {trial['passes']:.2f} | {gain} |")
    return "\n".join(lines)


def table_radices(shown=5):
    """The fastest orders and the slowest one, each with its best padding and threads."""
    lines = ["| n | radices | threads | padding | µs of 256 MiB | passes | against the best |", "|---:|---|---:|---:|---:|---:|---:|"]
    for row in of_group(load()[1], "ablation"):
        best = {}
        for trial in right_trials(row) if "trials" in row else []:
            best.setdefault(trial["radices"], trial)
        trials = list(best.values())
        for trial in trials[:shown] + trials[shown:][-1:]:
            lines.append(f"| {row['n']} | {trial['radices']} | {trial['threads']} | {trial['pad'] or 'none'} | {trial['us']:.4g} | {trial['passes']:.2f} | "
                         f"{trial['us'] / trials[0]['us']:.2f} |")
    return "\n".join(lines)


def table_context():
    data, _ = load()
    lines = ["| commit | device | driver, runtime | cuFFT | VkFFT | copy, TB/s | command |", "|---|---|---|---:|---:|---:|---|"]
    for run in data.get("runs", [data]):
        lines.append(f"| {run['commit']} | {run['device']} | CUDA {run['driver'] / 1000:g}, {run['runtime'] / 1000:g} | {run['cufft']} | {run.get('vkfft', '–')} | "
                     f"{run['copy_bandwidth_tb_s']:.2f} | `{run['command']}` |")
    return "\n".join(lines)


def table_drawn():
    """dense_drawn.json has plans made for the first time, dense_drawn_again.json those of a second process."""
    rows, again = [], []
    for name, into in (("dense_drawn.json", rows), ("dense_drawn_again.json", again)):
        with open(RESULTS / name, encoding="utf-8") as file:
            into += [row for row in json.load(file)["rows"] if "faster_peer" in row and row["automatic"].get("ratio")]

    def line(what, ratios, plans):
        plans = sorted(plans)
        plan = f"{time_text(1e3 * plans[len(plans) // 2])} | {time_text(1e3 * plans[-1])}" if plans else "– | –"
        return (f"| {what} | {len(ratios)} | {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}× | {sum(r >= 1 for r in ratios)} | "
                f"{sum(r >= 0.97 for r in ratios)} | {min(ratios):.2f}× | {max(ratios):.2f}× | {plan} |")

    cufft = [row[row["faster_peer"]]["us"] / row["cuFFT"]["ways"]["out of place"] for row in rows if "out of place" in row["cuFFT"].get("ways", {})]
    return "\n".join(["| plan | shapes | ratio, geometric mean | at least 1 | at least 0.97 | least | most | planning, ms, median | longest |",
                      "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
                      line("cuFFT, out of place (`estimate`)", cufft, []),
                      line("`quick`, the first time", [row["automatic"]["ratio"] for row in rows], [row["automatic"]["plan_s"] for row in rows]),
                      line("`quick`, in a second process", [row["automatic"]["ratio"] for row in again], [row["automatic"]["plan_s"] for row in again])])


def table_trials():
    """How much longer than the fastest the kernel takes that was first in rank when trials.json was made."""
    with open(RESULTS / "trials.json", encoding="utf-8") as file:
        steps = json.load(file)["steps"]
    kinds = collections.defaultdict(list)
    for step in steps:
        timed = [trial for trial in step["trials"] if trial["us"]]
        first = [trial["us"] for trial in timed if trial["rank"] == 0]
        if len(timed) < 3 or not first:
            continue
        layout = "grids" if step["rows"] else "neighbouring lines" if step["interleaved"] or step["transposed"] else "real rows" if step["half_spectra"] else "contiguous lines"
        kinds[layout].append(first[0] / min(trial["us"] for trial in timed))
    lines = ["| steps over | steps | geometric mean | more than 1.1 | most |", "|---|---:|---:|---:|---:|"]
    for layout, losses in [*sorted(kinds.items()), ("all", sum(kinds.values(), []))]:
        mean = math.exp(sum(map(math.log, losses)) / len(losses))
        lines.append(f"| {layout} | {len(losses)} | {mean:.2f} | {sum(loss > 1.1 for loss in losses)} | {max(losses):.2f} |")
    return "\n".join(lines)


TABLES = {"dense-drawn": table_drawn, "dense-trials": table_trials, "dense-context": table_context, "dense-held": table_held, "dense-lines": table_lines, "dense-frames": table_frames, "dense-cubes": table_cubes,
          "dense-batched": table_batched, "dense-double": table_double, "dense-host": table_host, "dense-selective": table_selective, "dense-memory": table_memory, "dense-padding": table_padding, "dense-radices": table_radices}
