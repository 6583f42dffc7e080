# SPDX-License-Identifier: Apache-2.0
"""Tables from the JSON of sfft-bench: settings of FFTW, and when learning and planning are paid back."""
import json
import pathlib

from table_text import points_text, time_text

RESULTS = pathlib.Path(__file__).resolve().parent / "results"


def load(file):
    with open(RESULTS / file, encoding="utf-8") as opened:
        return json.load(opened)


def frames_text(row, key):
    if row[key] is None:
        return "never"
    until = f", until {row['ahead_until_frames']:,.0f}" if key == "break_even_frames" and row["ahead_until_frames"] is not None else ""
    return f"{row[key]:,.0f}{until}"


FFTW = ("FFTW", "FFTW estimate", "FFTW, 4 threads", "FFTW estimate, 4 threads")
OURS = ("sfft known support", "sfft known support, 4 threads")


def by_size(rows, figure, k):
    sizes = {}
    for row in rows:
        if row["figure"] == figure and row["k"] == k and not row["skipped"] and row["device"] == "cpu":
            sizes.setdefault((row["snr_db"], row["nominal_points"]), {})[row["contender"]] = row
    return sorted(sizes.items(), key=lambda item: (-(item[0][0] or 0), item[0][1]))


def table_settings():
    """Time and plan time of FFTW at every setting, k = 64."""
    lines = ["| N | " + " | ".join(f"{name}, plan" for name in FFTW) + " | " + " | ".join(f"{name}, plan" for name in OURS) + " |",
             "|---:|" + "---:|" * (len(FFTW) + len(OURS))]
    for (_, points), found in by_size(load("cpu/sfft_bench_sparse.json")["rows"], "time_vs_n", 64):
        cells = [f"{time_text(found[name]['warm_us'])}, {time_text(1e3 * found[name]['plan_ms'])}" if name in found else "–" for name in FFTW + OURS]
        lines.append(f"| {points_text(points)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


NOISY = ("FFTW", "FFTW estimate", "AAFFT 0.9", "sFFT-2.0", "sfft discovery", "sfft known support")


def table_noisy():
    """Time against N under noise, with the error of every contender over that of a full FFT."""
    lines = ["| SNR | N | k | " + " | ".join(f"{name}, error / full FFT's" for name in NOISY) + " |", "|---:|---:|---:|" + "---:|" * len(NOISY)]
    for (snr, points), found in by_size(load("cpu/sfft_bench_noise_n.json")["rows"], "time_vs_n_noise", 64):
        cells = []
        for name in NOISY:
            row = found.get(name)
            cells.append(f"{time_text(row['warm_us'])}, {row['mean_error'] / row['noise_floor']:.2g}" if row else "–")
        lines.append(f"| {snr:.0f} dB | {points_text(points)} | 64 | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def break_even(file, wanted):
    rows = [row for row in load(file)["rows"] if row["figure"] == "break_even" and wanted(row)]
    lines = ["| recording | frames | contender | learning | planning | ready after | per frame | error | against | ready after | per frame | break-even, frames | with first use | its plan kept | in the run |",
             "|---|---:|---|---:|---:|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|"]
    last = None
    for row in rows:
        head = (row["recording"], row["batch"], row["contender"])
        ours = (f"| {row['recording']} {row['shape'].split()[0]} | {row['frames']:,} | {row['contender']} | {time_text(1e3 * row['learn_ms'])} | "
                f"{time_text(1e3 * (row['plan_ms'] - row['learn_ms']))} | {time_text(1e3 * row['prepare_ms'])} | {time_text(row['frame_us'])} | "
                f"{100 * row['relative_l2']:.1f} %") if head != last else "| | | | | | | | "
        last = head
        crossed = "–" if row["crossed_frames"] is None else f"{row['crossed_frames']:,.0f}"
        lines.append(f"{ours} | {row['peer']} | {time_text(1e3 * row['peer_prepare_ms'])} | {time_text(row['peer_frame_us'])} | "
                     f"**{frames_text(row, 'break_even_frames')}** | {frames_text(row, 'break_even_first_use_frames')} | "
                     f"{frames_text(row, 'break_even_kept_frames')} | {crossed} |")
    return "\n".join(lines)


def table_break_even():
    return break_even("cpu/sfft_bench_paper.json", lambda row: row["device"] == "cpu" and row["threads"] == 1 and not row["peer"].endswith(" threads"))


def table_break_even_threads():
    return break_even("cpu/sfft_bench_paper.json", lambda row: row["device"] == "cpu" and row["threads"] > 1 and row["peer"].endswith(f", {row['threads']} threads"))


def table_break_even_device():
    return break_even("h200/sfft_bench_paper.json", lambda row: row["device"] == "cuda" and row["frames_in"] == "device" and row["batch"] > 1)


def table_break_even_single():
    return break_even("h200/sfft_bench_paper.json", lambda row: row["device"] == "cuda" and row["frames_in"] == "device" and row["batch"] == 1)


def table_break_even_host():
    return break_even("h200/sfft_bench_paper.json", lambda row: row["device"] == "cuda" and row["frames_in"] == "page-locked")


TABLES = {"fftw-settings": table_settings, "noisy": table_noisy, "break-even": table_break_even, "break-even-threads": table_break_even_threads,
          "break-even-device": table_break_even_device, "break-even-single": table_break_even_single, "break-even-host": table_break_even_host}
