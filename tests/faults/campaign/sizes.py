#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every limit of file size, from 0 to the whole, for every output: each is whole, or missing with exit code 2.

Spectra are megabytes: their limits come in steps. Example:

  sizes.py build/bin/sfft-video --preload build/lib/libfail_allocations.so --save build/bin/save_files
"""
import os
import subprocess
import tempfile

from common import Summary, arguments, film
from faults import add_arguments, outputs, sweep


def main():
    parser = arguments(__doc__, 1000000)
    add_arguments(parser)
    parser.add_argument("--save", required=True, help="save_files, for templates and wisdom")
    parser.add_argument("--html-step", type=int, default=1, help="bytes (default: %(default)s)")
    parser.add_argument("--spectra-step", type=int, default=499, help="bytes (default: %(default)s)")
    options = parser.parse_args()
    summary = Summary("sizes", options)
    has_hdf5 = b"HDF5       yes" in subprocess.run([options.program, "--version"], capture_output=True, check=True).stdout
    work = ["--k", "8", "--verify", "2", "--quiet"]
    commands = {
        "json,csv": lambda folder, source: [options.program, "run", source, *work, *outputs(folder, "json", "csv")],
        "html": lambda folder, source: [options.program, "run", source, *work, *outputs(folder, "html")],
        "template": lambda folder, source: [options.program, "learn", source, "--k", "8", "-o", folder + "/template"],
        "template,wisdom": lambda folder, source: [options.save, folder],
    }
    if has_hdf5:
        commands["spectra"] = lambda folder, source: [options.program, "run", source, *work, *outputs(folder, "spectra")]
    for names, command in commands.items():
        with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile(suffix=".y4m") as source:
            source.write(film(5))
            source.flush()
            subprocess.run(command(folder, source.name), check=True, stdout=subprocess.DEVNULL)
            largest = max(os.path.getsize(os.path.join(folder, name)) for name in names.split(","))
        step = max(options.step, {"spectra": options.spectra_step, "html": options.html_step}.get(names, 1))
        last = min(largest + 200, (options.runs - 1) * step)  # reports vary in length with the times in them
        summary.numbers[names + " bytes"] = largest
        sweep(options, summary, names, command, last, {"SIZES": names}, step=step)
    summary.finish()


if __name__ == "__main__":
    main()
