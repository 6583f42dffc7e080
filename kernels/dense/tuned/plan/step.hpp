// SPDX-License-Identifier: Apache-2.0
// One step of a transform through global memory: which lines a kernel transforms, where they lie, and how.
// The host fills it in, and prints it as the constant from which the device code is instantiated.
//
// Compiled by NVRTC, too: C++17 without standard headers.
#pragma once

#include "kernels/base/storage.hpp"
#include "kernels/cuda/spectrum/kept_part.cuh"
#include "kernels/dense/tuned/policy/kernel_policy.hpp"

namespace sfft::detail::tuned {

enum class Buffer { input, output, scratch };

/// What the elements of a line are. complex: as they are. pairs: real samples 2j and 2j + 1 as one complex
/// value. real: with imaginary part 0. half_pairs: half the spectrum of 2n real samples, transformed as n
/// pairs. half: half the spectrum of n real samples, n odd.
enum class Form { complex, pairs, real, half_pairs, half };

/// plain: the FFT of the line. Others: a cyclic convolution by FFTs of a length that has radices.
enum class Method { plain, bluestein, rader };

/// Where the i-th element of a dimension lies: i·stride, or (i mod fold)·stride + (i/fold)·over.
struct Digits {
  long long stride = 1;
  int fold = 0;  ///< 0: one digit
  long long over = 0;

  constexpr Digits(long long all = 1) : stride(all) {}  // NOLINT: a stride alone is the usual case
  constexpr Digits(long long first, int count, long long next) : stride(first), fold(count), over(next) {}
  friend constexpr bool operator==(const Digits& a, const Digits& b) {
    return a.stride == b.stride && a.fold == b.fold && a.over == b.over;
  }
};

/// What counts the transforms of an array of block16, each with its exponents behind it. none: there is one.
enum class Transforms { none, groups, lines };

/// Where a step loads or stores: strides in elements of the buffer.
struct Side {
  Buffer buffer = Buffer::input;
  long long group = 0, outer = 0;
  Digits inner = {}, element = {};  ///< of neighbouring lines, and of the elements of a line
  int ring_groups = 0;              ///< groups that the ring buffer holds; 0: not a ring
  long long base = 0;               ///< offset of its first element in the buffer
  Form form = Form::complex;
  bool between = false;  ///< one alternating step leaves it for the other in the L2 cache
  /// Format of real and imaginary parts. f32 stands for the plan's own precision, or for a sample's own type.
  dense::Storage storage = dense::Storage::f32;
  int exponent = 0;  ///< results are stored times 2^exponent
  Transforms transforms = Transforms::none;
  long long words = 0;  ///< of two integers of block16, of a transform
  /// Samples of a word, whose strides are those of samples.
  constexpr int parts() const { return form == Form::pairs ? 2 : 1; }
};

/// Twiddle factors between the steps of a long line: output k of a line is multiplied by
/// exp(−2πi·k·(group·i_group + outer·i_outer + inner·i_inner)/modulus). Modulus 0: there are none.
struct StepTwiddle {
  long long modulus = 0, group = 0, outer = 0, inner = 0;
  /// The low bits of an exponent, which index the fine table; the others index the coarse one.
  constexpr int fine_bits() const {
    int bits = 0;
    for (long long rest = modulus; rest > 0; rest /= 2) ++bits;
    return (bits + 1) / 2;
  }
};

/// Points of a line on tensor cores at most: products and matrices grow with the square of it.
constexpr int kMaxOfProduct = 128;

struct Step {
  int points = 1;  ///< of a line; the FFT is longer or shorter if it computes a convolution
  Method method = Method::plain;
  KernelPolicy policy = {};
  long long outer = 1, inner = 0;  ///< lines of a group; inner 0: as many as the batch
  /// Not 0: the lines are the rows of half spectra of this many rows and planes; each depends on its mirrored
  /// row. For pairs, lines 2q and 2q + 1 mirror each other.
  long long mirror_rows = 0, mirror_planes = 1;
  Side in = {}, out = {};
  bool vector = true;         ///< pairs of samples are loaded and stored as one
  long long pair_stride = 1;  ///< between the samples of a pair
  /// Neighbouring threads hold neighbouring lines, not neighbouring points, when they load or store.
  bool load_interleaved = false, store_interleaved = false;
  /// Not 0: a line is a grid of this many rows, transformed along both dimensions; the step's twiddle factors
  /// depend on the output of the columns.
  int rows = 0;
  /// Real and imaginary parts are exchanged: an inverse FFT is a forward one between two exchanges.
  bool swap_in = false, swap_out = false;
  bool scale = false;  ///< results are multiplied by the call's scale
  StepTwiddle twiddle = {};
  device::Keep keep = device::Keep::all;  ///< other than all: results are not stored, a part of them is kept
  long long spectrum = 0;                 ///< elements of one spectrum, if a part is kept

  /// Tiles of a group; 0: as many as the batch needs.
  constexpr long long tiles() const {
    const int lines = policy.transforms_per_block;
    return inner == 0 ? 0 : outer * ((inner + lines - 1) / lines);
  }
  /// A line is made of half a spectrum of pairs, or becomes one.
  constexpr bool half_spectra() const { return in.form == Form::half_pairs || out.form == Form::half_pairs; }
  /// Lines 2q and 2q + 1 are rows that mirror each other.
  constexpr bool mirrored_pairs() const { return mirror_rows > 0 && half_spectra(); }
  /// One side is of block-scaled integers.
  constexpr bool blocks() const {
    return in.storage == dense::Storage::block16 || out.storage == dense::Storage::block16;
  }
  /// Blocks of results are of neighbouring lines, not of neighbouring elements of a line.
  constexpr bool blocks_across() const {
    return out.storage == dense::Storage::block16 && out.transforms != Transforms::lines &&
           out.inner == out.parts();
  }
  /// Tiles pass through shared memory on their way in and out.
  constexpr bool stages() const {
    return policy.staged || half_spectra() || out.storage == dense::Storage::block16;
  }
  constexpr bool interleaves_threads() const { return policy.interleaved_threads && stages(); }
  /// Rader's convolution of co-prime radices is one of as many dimensions (Good 1958): its passes need no
  /// twiddle factors, and its tables are in the order that makes this so.
  constexpr bool twiddle_free() const {
    if (method != Method::rader) return false;
    for (unsigned i = 0; i < policy.radices.size(); ++i) {
      for (unsigned k = 0; k < i; ++k) {
        int a = policy.radices[i], b = policy.radices[k];
        while (b != 0) {
          const int rest = a % b;
          a = b;
          b = rest;
        }
        if (a != 1) return false;
      }
    }
    return true;
  }
  /// Rader's permutations of a staged line that has a block for itself go through slots of shared memory that
  /// the host has computed, so that no bank conflicts occur (bank_slots.hpp).
  constexpr bool conflict_free() const {
    return policy.staged && !policy.interleaved_threads && policy.transforms_per_block == 1 &&
           policy.radices.size() > 1 && twiddle_free() && !half_spectra() && !blocks();
  }
  /// A side of a staged tile is moved as it lies in memory: whole lines of 16-bit complex values, one after
  /// the other.
  constexpr bool packs(const Side& side) const {
    return policy.staged && !half_spectra() && mirror_rows == 0 && !conflict_free() &&
           !policy.interleaved_shared && side.form == Form::complex && side.element == 1 &&
           side.inner == points && is_16_bit(side.storage) && side.storage != dense::Storage::block16 &&
           keep == device::Keep::all;
  }
  /// Its lines are products with matrices: a batch of lines of f16, one after the other.
  constexpr bool multiplies() const { return policy.tensor_cores; }
  constexpr bool can_multiply() const {
    const int threads = policy.threads_per_transform;
    return method == Method::plain && policy.radices.size() == 1 && points <= kMaxOfProduct && threads <= 4 &&
           32 % threads == 0 && policy.transforms_per_block % (32 / threads) == 0 && whole_lines(in) &&
           whole_lines(out) && outer == 1 && inner == 0 && !load_interleaved && !store_interleaved &&
           swap_in == swap_out && twiddle.modulus == 0 && mirror_rows == 0 && rows == 0 &&
           keep == device::Keep::all;
  }
  constexpr bool whole_lines(const Side& side) const {
    return side.form == Form::complex && side.storage == dense::Storage::f16 && side.element == 1 &&
           side.inner == points && side.base == 0 && side.exponent == 0;
  }
  /// The threads of a transform always belong to one warp.
  constexpr bool within_warp() const {
    return !load_interleaved && !store_interleaved && !interleaves_threads() &&
           32 % policy.threads_per_transform == 0;
  }
};

}  // namespace sfft::detail::tuned
