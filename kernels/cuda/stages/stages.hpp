// SPDX-License-Identifier: Apache-2.0
// The stages of a sparse plan, each a launch: permute, subsample and recover for every frame, and at plan
// time hash and the rows of a witness. Flat windows are hashed on the host.
#pragma once

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/stages/binning.hpp"

namespace sfft::detail::cuda {

/// A grid as kernels see it: extents of `rank` dimensions, slowest first; unused ones are 1.
struct GridShape {
  int rank = 1;
  std::int64_t extents[3] = {1, 1, 1};
};

/// Stage "hash" at plan time: finds the buckets of a template's frequencies in a comb. out[i] = the buckets
/// of support[i] (a linear index) and of its negative. All arrays are in device memory.
void launch_comb_hash(const GridShape& shape, const std::int64_t* buckets, const std::int64_t* support, int k,
                      BucketPair* out, Stream stream);

/// What predicts a witness's samples from the coefficients. All arrays are in device memory.
struct WitnessLayout {
  GridShape shape;
  bool real = false;
  const std::int64_t* support = nullptr;  ///< k frequencies as linear indices
  const std::uint8_t* flags = nullptr;    ///< kDistinctConjugate where a real signal has −f as well
  int k = 0;
  const std::int64_t* samples = nullptr;  ///< linear indices
  int count = 0;                          ///< of samples
  int pitch = 0;                          ///< coefficients from one row to the next
};
/// Stage "hash" of a witness, at plan time: fills the `rows` of a WitnessTable for the first `count` samples.
template <class Real>
void launch_witness_rows(const WitnessLayout& of, Complex<Real>* rows, Stream stream);

/// Stage "permute": gathers the samples of every lane, minus the reference's, into device memory.
/// out[(frame·lanes + lane)·taps + m], taps = B for a comb. A real frame's lane holds two delays as real and
/// imaginary parts. `witness` receives the real numbers of the witness's samples, [frame][kWitnessReals],
/// minus the reference's; it is unused if the plan has no witness.
template <class Real>
void launch_permute(const Binning<Real>& plan, const Batch<Real>& batch, Complex<Real>* out, Real* witness,
                    Stream stream);

/// Stage "subsample" of the flat-window path: windows the taps and aliases them into B buckets. out[line·B +
/// b] = Σ_a window[b + aB] taps[line·folds·B + b + aB] for `lines` lines (frames × lanes).
template <class Real>
void launch_subsample(const Binning<Real>& plan, std::int64_t lines, const Complex<Real>* taps,
                      Complex<Real>* out, Stream stream);

/// A block's results for the second kernel: sums, and its coefficients'
/// prediction of the witness.
struct RecoverPartial {
  double power, held, norm, fit;
  double predicted[kWitnessReals];
};
constexpr int kMaxRecoverBlocks = 64;  ///< per frame

/// Stage "recover": applies rows of weights to the buckets of all lanes, and computes tail power, errors and
/// error estimates. Computes the batch's values, errors and estimates from transformed lanes z[(frame·lanes +
/// lane)·B + b] and the witness's samples as launch_permute() writes them. `partials` holds kMaxRecoverBlocks
/// per frame; `more` has one element per frame if the witness has several blocks, else it is nullptr.
template <class Real>
void launch_recover(const Binning<Real>& plan, const Batch<Real>& batch, const Complex<Real>* z,
                    const Real* witness, RecoverPartial* partials, WitnessSums* more, Stream stream);

}  // namespace sfft::detail::cuda
