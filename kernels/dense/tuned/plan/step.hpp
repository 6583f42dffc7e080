// SPDX-License-Identifier: Apache-2.0
// One step of a transform through global memory: which lines a kernel transforms, where they lie, and how it
// transforms them. The host fills in a Step and prints it as the constant that instantiates the device code.
//
// NVRTC also compiles this file: C++17 without standard headers.
#pragma once

#include "kernels/cuda/spectrum/kept_part.cuh"
#include "kernels/dense/tuned/policy/kernel_policy.hpp"
#include "sfft/storage.hpp"

namespace sfft::detail::tuned {

enum class Buffer { input, output, scratch };

/// What the elements of a line are. complex: complex values. pairs: real samples 2j and 2j + 1 as one complex
/// value. real: real samples with imaginary part 0. half_pairs: half the spectrum of 2n real samples,
/// transformed as n pairs. half: half the spectrum of n real samples, n odd.
enum class Form { complex, pairs, real, half_pairs, half };

/// plain: the FFT of the line. The others compute a cyclic convolution with FFTs of a length that has
/// radices.
enum class Method { plain, bluestein, rader };

/// Where the i-th element of a dimension lies: i·stride, or (i mod fold)·stride + (i/fold)·over.
struct Digits {
  long long stride = 1;
  int fold = 0;  ///< 0: a single digit
  long long over = 0;

  constexpr Digits(long long all = 1) : stride(all) {}  // NOLINT: a single stride is the usual case
  constexpr Digits(long long first, int count, long long next) : stride(first), fold(count), over(next) {}
  friend constexpr bool operator==(const Digits& a, const Digits& b) {
    return a.stride == b.stride && a.fold == b.fold && a.over == b.over;
  }
};

/// Which index counts the transforms of a block16 array; each transform is followed by its exponents. none:
/// there is one transform.
enum class Transforms { none, groups, lines };

/// Where a step loads or stores. Strides are in elements of the buffer.
struct Side {
  Buffer buffer = Buffer::input;
  long long group = 0, outer = 0;
  Digits inner = {}, element = {};  ///< strides of neighbouring lines, and of the elements of a line
  int ring_groups = 0;              ///< groups that the ring buffer holds; 0: not a ring
  long long base = 0;               ///< offset of the first element in the buffer
  Form form = Form::complex;
  bool between = false;  ///< one alternating step leaves these data in the L2 cache for the other
  /// The format of real and imaginary parts. f32 stands for the plan's precision, or for the type of a
  /// sample.
  dense::Storage storage = dense::Storage::f32;
  int exponent = 0;  ///< results are stored times 2^exponent
  Transforms transforms = Transforms::none;
  long long words = 0;  ///< words of a transform; a word is two block16 integers
  /// Samples per word. Strides count samples.
  constexpr int parts() const { return form == Form::pairs ? 2 : 1; }
};

/// Twiddle factors between the steps of a long line. Output k of a line is multiplied by
/// exp(−2πi·k·(group·i_group + outer·i_outer + inner·i_inner)/modulus). Modulus 0 means that there are none.
struct StepTwiddle {
  long long modulus = 0, group = 0, outer = 0, inner = 0;
  /// The number of low bits of an exponent that index the fine table. The other bits index the coarse table.
  constexpr int fine_bits() const {
    int bits = 0;
    for (long long rest = modulus; rest > 0; rest /= 2) ++bits;
    return (bits + 1) / 2;
  }
};

/// The maximum number of points of a line on tensor cores. Products and matrices grow with its square.
constexpr int kMaxOfProduct = 128;

struct Step {
  int points = 1;  ///< points of a line; the FFT is longer or shorter if it computes a convolution
  Method method = Method::plain;
  KernelPolicy policy = {};
  long long outer = 1, inner = 0;  ///< lines of a group; inner 0: as many as the batch
  /// If not 0, the lines are the rows of half spectra with this many rows and planes, and each depends on its
  /// mirrored row. For pairs, lines 2q and 2q + 1 mirror each other.
  long long mirror_rows = 0, mirror_planes = 1;
  Side in = {}, out = {};
  bool vector = true;         ///< each pair of samples is loaded and stored as one vector
  long long pair_stride = 1;  ///< between the samples of a pair
  /// Whether neighbouring threads hold neighbouring lines, not neighbouring points, when they load or store.
  bool load_interleaved = false, store_interleaved = false;
  /// If not 0, a line is a grid of this many rows, transformed along both dimensions. The step's twiddle
  /// factors then depend on the output of the columns.
  int rows = 0;
  /// Whether real and imaginary parts are exchanged. An inverse FFT is a forward one between two exchanges.
  bool swap_in = false, swap_out = false;
  bool scale = false;  ///< results are multiplied by the call's scale
  StepTwiddle twiddle = {};
  device::Keep keep = device::Keep::all;  ///< unless `all`, results are not stored; only a part of them is
                                          ///< kept
  long long spectrum = 0;                 ///< elements of one spectrum, if only a part is kept

  /// Tiles of a group. 0 means as many as the batch needs.
  constexpr long long tiles() const {
    const int lines = policy.transforms_per_block;
    return inner == 0 ? 0 : outer * ((inner + lines - 1) / lines);
  }
  /// Whether a line is made from half a spectrum of pairs, or becomes one.
  constexpr bool half_spectra() const { return in.form == Form::half_pairs || out.form == Form::half_pairs; }
  /// Whether lines 2q and 2q + 1 are rows that mirror each other.
  constexpr bool mirrored_pairs() const { return mirror_rows > 0 && half_spectra(); }
  /// Whether one side has block-scaled integers.
  constexpr bool blocks() const {
    return in.storage == dense::Storage::block16 || out.storage == dense::Storage::block16;
  }
  /// Whether a block of results spans neighbouring lines rather than neighbouring elements of a line.
  constexpr bool blocks_across() const {
    return out.storage == dense::Storage::block16 && out.transforms != Transforms::lines &&
           out.inner == out.parts();
  }
  /// Whether tiles are staged in shared memory.
  constexpr bool stages() const {
    return policy.staged || half_spectra() || out.storage == dense::Storage::block16;
  }
  constexpr bool interleaves_threads() const { return policy.interleaved_threads && stages(); }
  /// Whether the passes need no twiddle factors. Rader's convolution with co-prime radices has one dimension
  /// per radix (Good 1958). Its tables are in the matching order.
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
  /// Whether Rader's permutations go through slots of shared memory that the host computed, without bank
  /// conflicts (bank_slots.hpp). This requires a staged line that has a block for itself.
  constexpr bool conflict_free() const {
    return policy.staged && !policy.interleaved_threads && policy.transforms_per_block == 1 &&
           policy.radices.size() > 1 && twiddle_free() && !half_spectra() && !blocks();
  }
  /// Whether a side of a staged tile moves without conversion: whole contiguous lines of 16-bit complex
  /// values.
  constexpr bool packs(const Side& side) const {
    return policy.staged && !half_spectra() && mirror_rows == 0 && !conflict_free() &&
           !policy.interleaved_shared && side.form == Form::complex && side.element == 1 &&
           side.inner == points && is_16_bit(side.storage) && side.storage != dense::Storage::block16 &&
           keep == device::Keep::all;
  }
  /// Whether the lines are products with matrices: a batch of contiguous f16 lines.
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
  /// Whether the threads of a transform always belong to one warp.
  constexpr bool within_warp() const {
    return !load_interleaved && !store_interleaved && !interleaves_threads() &&
           32 % policy.threads_per_transform == 0;
  }
};

}  // namespace sfft::detail::tuned
