// SPDX-License-Identifier: Apache-2.0
// The problem of a plan, once the arrays' distribution is decided, and the interface of engines.
#pragma once

#include <complex>
#include <memory>
#include <string>

#include "sfft/mpi/comm.hpp"
#include "sfft/mpi/layout.hpp"

namespace sfft::mpi::detail {

struct Problem {
  Shape shape;
  bool real;
  Options options;
  Decomposition decomposition;  ///< slabs or pencils
  std::array<int, 2> grid;      ///< of processes; slabs: P and 1
  std::string reason;           ///< why that decomposition
  Three signal_extents, spectrum_extents;
  Layout signal, spectrum;

  Domain domain() const noexcept { return real ? Domain::real : Domain::complex; }
  /// Boxes of all processes in an array with these extents: dimension `first` is shared by grid[0] and
  /// `second` by grid[1].
  std::vector<Box> shared(const Three& extents, int first, int second) const;
};

/// Throws invalid_argument for problems that no engine supports. `decomposition`: from the options, or
/// another one to try.
Problem make_problem(const Shape& shape, bool real, const Options& options, Decomposition decomposition,
                     int processes);

/// The scale of a whole transform of N points.
double factor_of(dense::Options::Normalization normalization, double points, bool forward) noexcept;

/// A box of the signal, with room after each row of real values for its half spectrum.
Box with_room(const Problem& problem, Box signal) noexcept;

/// Both calls are collective; if one process fails, all throw its error.
template <class Real>
class DistributedEngine {
 public:
  virtual ~DistributedEngine() = default;
  virtual void forward(const void* signal, std::complex<Real>* spectrum) const = 0;
  virtual void inverse(const std::complex<Real>* spectrum, void* signal) const = 0;
  virtual std::string name() const = 0;
  virtual std::string describe() const = 0;  ///< lines about this process, for explain()
};

/// Collective. Throw backend_unavailable for engines that the build lacks and problems that they do not
/// support.
template <class Real>
std::unique_ptr<DistributedEngine<Real>> make_built_in(std::shared_ptr<Comm> comm, const Problem& problem);
template <class Real>
std::unique_ptr<DistributedEngine<Real>> make_fftw(std::shared_ptr<Comm> comm, const Problem& problem);
template <class Real>
std::unique_ptr<DistributedEngine<Real>> make_cufftmp(std::shared_ptr<Comm> comm, const Problem& problem);

/// Why the build has no such engine; empty if it has.
std::string fftw_missing();
std::string cufftmp_missing();

}  // namespace sfft::mpi::detail
