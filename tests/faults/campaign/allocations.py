#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every n-th allocation fails, once each, over whole runs of sfft-video and over a program that uses the API.

Each must end with an error or go on; no output is half-written, no file in preparation is left. Example:

  allocations.py build/bin/sfft-video --preload build/lib/libfail_allocations.so --api build/bin/api_program
"""
import subprocess

from common import Summary, arguments
from faults import add_arguments, outputs, sweep

WORK = ["--k", "8", "--verify", "2", "--threads", "2"]


def main():
    parser = arguments(__doc__, 1000000)
    add_arguments(parser)
    parser.add_argument("--api", required=True, help="api_program")
    parser.add_argument("--only", choices=("run", "learn", "api"), help="one of them")
    options = parser.parse_args()
    summary = Summary("allocations", options)
    summary.numbers["step"] = options.step
    has_hdf5 = b"HDF5       yes" in subprocess.run([options.program, "--version"], capture_output=True, check=True).stdout
    kinds = ("json", "csv", "html", "spectra") if has_hdf5 else ("json", "csv", "html")
    programs = {
        "run": lambda folder, source: [options.program, "run", source, *WORK, *outputs(folder, *kinds)],
        "learn": lambda folder, source: [options.program, "learn", source, "--k", "8", "--frames", "3", "-o", folder + "/template"],
        "api": lambda folder, source: [options.api, folder],
    }
    for name, command in programs.items():
        if options.only in (None, name):
            sweep(options, summary, name, command, (options.runs - 1) * options.step, {})
    summary.finish()


if __name__ == "__main__":
    main()
