// SPDX-License-Identifier: Apache-2.0
// A transform as the tuned engine runs it: kernels, of steps through memory, of lines. What the device code
// calls the same (step.cuh, line_fft.cuh) is said here once for the generator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cuda/kept_part.cuh"
#include "sfft/types.hpp"

namespace sfft::detail::tuned {

/// Where the twiddle factors w^k of a butterfly come from. A power of a rounded root is as many times as
/// wrong: powers of two roots, w and a higher one, halve a transform's error, for up to a tenth of its time.
enum class Twiddles : std::uint8_t { one_root, two_roots, table };

/// past_l1: take no place in the L1 cache. prefetch: bring their neighbours to the L2 cache.
enum class Loads : std::uint8_t { usual, past_l1, prefetch };

/// What loads and stores leave in the caches.
struct Caching {
  Loads loads = Loads::usual;
  bool streaming = false;  ///< what is not read again by the next steps leaves the caches first
  friend bool operator==(const Caching&, const Caching&) = default;
};

enum class Method : std::uint8_t { plain, bluestein, rader };

/// How lines of one length are transformed: what the tuner chooses.
struct LineChoice {
  std::vector<int> radices;     ///< of the FFT, first pass first
  int threads = 1;              ///< of a line
  int lines = 1;                ///< of a tile
  bool position_major = false;  ///< points of different lines beside each other in shared memory
  int pad_every = 0;            ///< points of a line after which one place is left free; 0: never
  int pad = 0;                  ///< places left free between lines, or between positions
  bool split = false;           ///< real and imaginary parts one after the other through half the memory
  Twiddles twiddles = Twiddles::one_root;
  bool staged = false;  ///< tiles are read and written in the order of memory
  bool across = false;  ///< see Step::across()
  bool ahead = false;   ///< see Kernel::reads_ahead()
  bool early = false;   ///< see Kernel::begins_early()
  int resident = 0;     ///< blocks that a multiprocessor holds at most; 0: as many as fit
  int distance = 0;     ///< see Kernel::prefetches(): percent of the blocks that the GPU holds; 0: not
  /// Clock cycles by which blocks that a launch begins with are held back, so that not all of them read, then
  /// all compute: over which those of neighbouring multiprocessors begin (of launches of several waves), and
  /// from one block of a multiprocessor to its next.
  int spread = 0, stagger = 0;
  Caching caching{};

  int length() const;
  int registers() const;  ///< points that a thread holds
  bool coprime() const;   ///< no two radices have a common factor
  /// The radices of columns in a grid of `extent` rows, ahead of those of rows; 0: it transforms no such
  /// grid.
  std::size_t radices_of_columns(int extent) const;
  /// Whether Rader's permutations go through places of shared memory that are computed for them (places.hpp):
  /// of a staged line without twiddle factors that has a block for itself.
  bool has_places(Method method) const {
    return staged && !across && lines == 1 && radices.size() > 1 && method == Method::rader && coprime();
  }
  friend bool operator==(const LineChoice&, const LineChoice&) = default;
};

enum class Buffer : std::uint8_t { input, output, scratch };
enum class Form : std::uint8_t { complex, pairs, real, half_pairs, half };

/// Where the i-th of what is counted lies: i·stride, or (i mod fold)·stride + i/fold·over.
struct Digits {
  std::int64_t stride = 1;
  int fold = 0;  ///< 0: one digit
  std::int64_t over = 0;

  Digits(std::int64_t all = 1) : stride(all) {}  // NOLINT: a stride alone is the usual case
  Digits(std::int64_t first, int count, std::int64_t next) : stride(first), fold(count), over(next) {}
  friend bool operator==(const Digits&, const Digits&) = default;
};

struct Side {
  Buffer buffer = Buffer::input;
  std::int64_t group = 0, outer = 0;  ///< strides, in elements
  Digits inner, element;              ///< of lines beside each other, and of a line's elements
  int slots = 0;                      ///< of a ring of groups; 0: none
  std::int64_t offset = 0;            ///< of the buffer's part, in elements
  Form form = Form::complex;
  bool between = false;  ///< steps by turns: one leaves it for the other in the L2 cache
};

/// Twiddle factors between the steps of a long line; modulus 0: none.
struct Turn {
  std::int64_t modulus = 0, group = 0, outer = 0, inner = 0;
  int bits() const;  ///< of the fine table
};

struct Step {
  int points = 1;  ///< of a line
  Method method = Method::plain;
  LineChoice line;                    ///< its length is that of the FFT: other than points for a convolution
  std::int64_t outer = 1, inner = 0;  ///< lines of a group; inner 0: as many as the batch
  /// Not 0: rows of half a spectrum of so many rows and planes, which are related to the mirrored rows. With
  /// pairs, every second line is the mirror of the one before it.
  std::int64_t mirror_rows = 0, mirror_planes = 1;
  Side in, out;
  ElementType element = ElementType::f32;  ///< of real samples
  bool vector = true;                      ///< pairs are read and written as one
  std::int64_t pair_stride = 1;            ///< between the samples of a pair
  bool load_by_line = false, store_by_line = false;
  /// Not 0: a line is two dimensions, the first of so many rows, which are the second one. A turn is by the
  /// output of the first.
  int extent = 0;
  bool swap_in = false, swap_out = false, scale = false;
  Turn turn;

  std::int64_t tiles() const;  ///< of a group; 0: as many as the batch needs
  bool stages() const;         ///< tiles pass through shared memory on their way in and out
  /// Whether neighbouring threads hold neighbouring lines of a staged tile, not points: with 16 lines an odd
  /// number of places apart no permutation meets a bank of shared memory twice, and what threads read of
  /// tables is the same for all of them.
  bool across() const { return line.across && stages(); }
  /// Rader's convolution of co-prime radices is one of as many dimensions (Good 1958): its passes need no
  /// twiddle factors, and its tables are in the order that makes them so.
  bool twiddle_free() const { return method == Method::rader && line.coprime(); }
  /// Halves of spectra are tangled in the order of memory.
  bool has_places() const { return line.has_places(method) && !halves(); }
  /// Whether half a spectrum is made of a line of pairs, or a line of half a spectrum.
  bool halves() const { return in.form == Form::half_pairs || out.form == Form::half_pairs; }
};

struct Kernel {
  Step step;
  int min_blocks = 1;                     ///< a multiprocessor, for the compiler
  std::int64_t groups = 1;                ///< that one launch works on: transforms, planes, …
  device::Keep keep = device::Keep::all;  ///< other than all: results are not stored
  std::int64_t spectrum = 0;              ///< elements of one, where a part is kept

  int threads() const;
  /// Whether blocks stay, and read their next tile while they transform one: of steps that may (`line.ahead`)
  /// and whose neighbouring lines begin with pairs of real samples in whole words of 16 bytes.
  bool reads_ahead() const;
  /// Whether blocks bring their input to the L2 cache while the kernel before ends: of contiguous complex
  /// lines in one step, for calls that follow each other in a stream.
  bool begins_early() const;
  /// Whether blocks bring the input of a later tile to the L2 cache once they have read their own, so that
  /// memory is kept busy while they compute: of complex numbers or pairs that are neighbours in memory.
  bool prefetches() const;
  bool delays() const;  ///< whether the first blocks begin one after the other
  std::size_t shared_bytes(bool single) const;
};

/// Kernels in their order. Those from `turns_from`, `turns` of them, run by turns for `at_once` groups, on
/// `streams` streams, so that what is between them stays in the L2 cache.
struct Program {
  std::vector<Kernel> kernels;
  int turns = 0, turns_from = 0, at_once = 0, streams = 1;
  std::int64_t scratch_values = 0;  ///< complex
  bool one_by_one = false;          ///< runs once for every transform of the batch

  /// A volume in two steps, the first of planes, which are its groups.
  bool volume_in_two() const { return kernels.size() == 2 && kernels[0].step.extent > 0; }
};

/// CUDA source of one kernel, a function `sfft_kernel`.
std::string source_of(const Kernel& kernel, bool single);

}  // namespace sfft::detail::tuned
