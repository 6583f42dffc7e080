// SPDX-License-Identifier: Apache-2.0
// The contents of a plan, and the choice of its engine.
#pragma once

#include <memory>
#include <string>

#include "sfft/mpi/problem.hpp"

namespace sfft::mpi::detail {

template <class Real>
class Impl {
 public:
  std::shared_ptr<Comm> comm;
  Problem problem;
  Engine engine;
  std::unique_ptr<DistributedEngine<Real>> work;
  std::string reason, measured;
};

/// Collective: decides problem, engine and reason, by rules or timing, and creates the engine.
template <class Real>
void choose(Impl<Real>& impl, const Shape& shape, bool real, const Options& options);

}  // namespace sfft::mpi::detail
