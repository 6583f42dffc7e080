// SPDX-License-Identifier: Apache-2.0
// Published sparse Fourier algorithms, written from their papers, as opponents for benchmarks. They are not
// part of the library. They keep their original conditions (length, noise) and promise what their papers
// promise.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sfft::peers {

/// One term of a sparse spectrum: X[frequency], unnormalised, X[f] = Σ_t x[t] exp(-2πi f t / N).
struct Tone {
  std::int64_t frequency;
  std::complex<double> value;
};

/// The algorithms and what they need.
/// | method | source                                                            | N                | noise |
/// |--------|-------------------------------------------------------------------|------------------|-------|
/// | sfft1  | Hassanieh, Indyk, Katabi, Price, SODA 2012, sFFT 1.0              | power of two     | yes   |
/// | sfft2  | the same paper, sFFT 2.0: comb-filtered locations                 | power of two     | yes   |
/// | sfft3  | the same authors, STOC 2012, section 3: exactly sparse signals    | power of two     | no    |
/// | aafft  | Gilbert, Muthukrishnan, Strauss 2005; Iwen, Gilbert, Strauss 2007 | power of two     | yes   |
/// | ffast  | Pawar, Ramchandran, ISIT 2013: comb filters and peeling           | co-prime factors | no    |
enum class Method : std::uint8_t { sfft1, sfft2, sfft3, aafft, ffast };

const char* to_string(Method method) noexcept;

/// A plan for signals of one length and sparsity. Execution draws fresh random numbers, as published, and
/// keeps its scratch memory. Run only one execution at a time. Executions do not allocate once the vectors
/// have grown.
template <class Real>
class Peer {
 public:
  virtual ~Peer() = default;
  /// Finds up to k terms, in no particular order. `signal` holds N samples.
  virtual void execute(std::span<const std::complex<Real>> signal, std::vector<Tone>& tones) = 0;
  /// Samples read by the latest execution. A sample read twice counts twice.
  virtual std::int64_t samples_read() const noexcept = 0;
  /// The chosen parameters for human readers: "B 4096 and 2048, 3 + 8 loops".
  virtual std::string describe() const = 0;
};

/// Throws sfft::Error (invalid_argument) for a length or a sparsity that the method cannot handle.
template <class Real>
std::unique_ptr<Peer<Real>> make_peer(Method method, std::int64_t points, std::int64_t k,
                                      std::uint64_t seed = 1);

/// The length nearest to `points` at which FFAST decodes k terms. It is a product of pairwise co-prime
/// factors of similar size, whose sub-products are comb sizes of at least k. For 162³ and k=50 it is
/// 161·162·163.
std::int64_t ffast_length(std::int64_t points, std::int64_t k);

}  // namespace sfft::peers
