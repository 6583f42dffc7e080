# SPDX-License-Identifier: Apache-2.0
"""Numbers as the published tables show them, for bench/tables.py and its parts."""


def points_text(n):
    return f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else f"{n:,}"


def time_text(us):
    if us is None:
        return "–"
    for limit, unit in ((1e6, "s"), (1e3, "ms")):
        if us >= limit:
            return f"{us / limit:.3g} {unit}"
    return f"{us:.3g} µs"


def percent(share):
    """Two digits, and no exponent at 100 %."""
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.2g} %"


def error_text(error):
    return f"{100 * error:.1f} %" if error >= 1e-3 else f"{error:.0e}"
