# SPDX-License-Identifier: Apache-2.0
"""The tables of bench/results/h200/sparse.json and adaptive.json, for bench/tables.py."""
import json
import pathlib

from table_text import error_text, percent, points_text

RESULTS = pathlib.Path(__file__).resolve().parent / "results" / "h200"


def us_text(us):
    return f"{us:,.0f} µs" if us >= 1000 else f"{us:.3g} µs"


def load(name="sparse.json"):
    with open(RESULTS / name, encoding="utf-8") as file:
        data = json.load(file)
    return data, data["rows"]


def ratio_text(value):
    return f"{value:,.0f}×" if value >= 100 else f"{value:.3g}×"


def peers_text(row):
    return [f"{row['peers'][name]['warm_us']:.3g}" if name in row.get("peers", {}) else "–" for name in ("cuFFT", "VkFFT")]


def with_compiled(rows):
    """Rows, each followed by that of the kernel compiled for its plan, whose times replace the row's."""
    for row in rows:
        yield row, ""
        if "compiled" in row:
            yield row | row["compiled"], ", compiled"


def transforms(rows, first):
    lines = [f"| {first} | k | plan | read | sfft warm, µs | cold | cuFFT, µs | VkFFT | ratio warm | cold | relative L2 |",
             "|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for row, how in with_compiled(rows):
        plan = row["plan"]
        name = (points_text(row["n"]) if "n" in row else f"{row['name']}, batch {row['batch']}") + how
        path = f"{plan['path']} {plan['buckets']} × {plan['delays']}" if plan["path"] != "dense" else "dense"
        lines.append(f"| {name} | {row['k']} | {path} | {percent(plan['samples_fraction'])} | {row['warm_us']:.3g} | "
                     f"{row['cold_us']:.3g} | {' | '.join(peers_text(row))} | **{ratio_text(row['ratio_warm'])}** | "
                     f"{ratio_text(row['ratio_cold'])} | {row['relative_l2']:.1e} |")
    return "\n".join(lines)


def of_group(rows, *groups):
    return [row for row in rows if row["group"] in groups]


def table_known():
    _, rows = load()
    return transforms(of_group(rows, "known"), "N")


def table_video():
    _, rows = load()
    return transforms(of_group(rows, "video"), "frames")


def table_summary():
    """What the README shows: signals and frames, single and in batches, and where a dense transform is faster."""
    _, rows = load()
    lines = ["| signal | k | read | sfft | cuFFT or VkFFT | ratio | cold | relative error |", "|---|---:|---:|---:|---:|---:|---:|---:|"]
    sizes = {"car1080": "1920×1080", "car": "768×432"}
    signals = [("known", 1 << 20, 64), ("known", 1 << 24, 1000), ("known", 1 << 28, 64), ("crossover", 1 << 20, 8000)]
    for row in sorted(of_group(rows, "known", "video", "crossover"), key=lambda row: row["group"] != "video"):
        if row.get("name") in sizes and row["group"] == "video":
            name = f"video {sizes[row['name']]}, batch {row['batch']}"
        elif (row["group"], row.get("n"), row["k"]) in signals:
            name = f"sparse, {points_text(row['n'])} points"
        else:
            continue
        lines.append(f"| {name} | {row['k']} | {percent(row['plan']['samples_fraction'])} | {us_text(row['warm_us'])} | {us_text(row['warm_us'] * row['ratio_warm'])} | "
                     f"**{ratio_text(row['ratio_warm'])}** | {ratio_text(row['ratio_cold'])} | {error_text(row['relative_l2'])} |")
    return "\n".join(lines)


def table_crossover():
    _, rows = load()
    return transforms(of_group(rows, "crossover"), "signal")


def table_host():
    _, rows = load()
    lines = ["| recording | how samples reach the GPU | host threads | bytes per frame | µs per frame | against copying and cuFFT R2C |", "|---|---|---:|---:|---:|---:|"]
    for row in of_group(rows, "host"):
        peer = row["copy_and_cufft_us"]
        for name, way in row["ways"].items():
            lines.append(f"| {row['name']} | {name.split(',')[0]} | {way['threads']} | {way['bytes_per_frame']:,} | {way['us']:.3g} | **{peer / way['us']:.2g}×** |")
        lines.append(f"| {row['name']} | *cuFFT R2C of whole frames* | 1 | | {peer:.3g} | 1× |")
        lines.append(f"| {row['name']} | *copying whole frames alone* | 1 | | {row['copy_us']:.3g} | |")
    return "\n".join(lines)


def table_stages():
    data, rows = load()
    copy = data["copy_bandwidth_tb_s"]
    lines = ["| work | k | frames | plan | stage | µs | MB | TB/s | of copy bandwidth |", "|---|---:|---:|---|---|---:|---:|---:|---:|"]
    for row in of_group(rows, "stages"):
        head = f"| {row['name']} | {row['k']} | {row['frames']} | {row['buckets']} × {row['delays']} |"
        for name, stage in row["stages"].items():
            lines.append(f"{head} {name} | {stage['us']:.3g} | {stage['bytes'] / 1e6:.3g} | {stage['tb_s']:.2g} | {100 * stage['tb_s'] / copy:.0f} % |")
        lines.append(f"{head} *the plan's own choice: {row['best']['kernels']}* | {row['best']['us']:.3g} | | | |")
    return "\n".join(lines) + f"\n\nCopy bandwidth of the machine in this run: {copy:.2f} TB/s, read and written."


def table_adaptive():
    _, rows = load("adaptive.json")
    lines = ["| recording | frames | learning | planning | sfft per frame | cuFFT planning | cuFFT per frame | time so far, sfft / cuFFT, after | break-even |", "|---|---:|---:|---:|---:|---:|---:|---|---:|"]
    for row in rows:
        after = "; ".join(f"{at['frames']}: {at['sfft_ms']:.3g} / {at['cufft_ms']:.2g} ms" for at in row["after"])
        planning = f"{row['cufft_plan_ms']:.2g} ms" if "cufft_plan_ms" in row else "not counted"
        even = "never" if row["break_even_frames"] is None else f"{row['break_even_frames']:,.0f} frames"
        lines.append(f"| {row['name']} {row['shape']} | {row['frames']} | {row['learn_ms']:.2g} ms | {row['plan_ms']:.3g} ms | {row['sfft_us_per_frame']:.2g} µs | "
                     f"{planning} | {row['cufft_us_per_frame']:.3g} µs | {after} | {even} |")
    return "\n".join(lines)


def table_discovery():
    _, rows = load()
    lines = ["| N | k | verified | relative L2 | samples read | sfft, k known, µs | k unknown | cuFFT and wait, µs | ratio |", "|---:|---:|---|---:|---:|---:|---:|---:|---:|"]
    for row in of_group(rows, "discovery"):
        lines.append(f"| {points_text(row['n'])} | {row['k']} | {'yes' if row['verified'] else 'no'} | {row['relative_l2']:.1e} | {row['samples']:,} | "
                     f"{row['wall_us']:.3g} | {row['unknown_k_wall_us']:.3g} | {row['cufft_wall_us']:.4g} | **{ratio_text(row['ratio'])}** |")
    return "\n".join(lines)


def table_context():
    lines = ["| file | commit | device | driver, runtime | command |", "|---|---|---|---|---|"]
    for name in ("sparse.json", "adaptive.json"):
        data, _ = load(name)
        lines.append(f"| `bench/results/h200/{name}` | {data['commit']} | {data['device']} | CUDA {data['driver'] / 1000:g}, {data['runtime'] / 1000:g} | `{data['command']}` |")
    return "\n".join(lines)


TABLES = {"gpu-known": table_known, "gpu-video": table_video, "gpu-summary": table_summary, "gpu-crossover": table_crossover, "gpu-host": table_host, "gpu-stages": table_stages,
          "gpu-adaptive": table_adaptive, "gpu-discovery": table_discovery, "gpu-context": table_context}
