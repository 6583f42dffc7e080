// SPDX-License-Identifier: Apache-2.0
// Stands in for GPU code that has not passed its tests on a GPU yet, and is built by SFFT_PREVIEW alone.
#include <fmt/format.h>

#include "kernels/dense/out_of_card/card.hpp"
#include "kernels/dense/request/compact_runner.hpp"

namespace sfft::detail {

namespace {

[[noreturn]] void not_built(const char* what, const char* instead) {
  throw Error(
      ErrorCode::backend_unavailable,
      fmt::format("this build has no {}, a preview that has not passed its tests on a GPU: {}, or build "
                  "with a CUDA toolkit and SFFT_PREVIEW=ON",
                  what, instead));
}

}  // namespace

bool gpu_usable(int) {
  return false;
}

template <class Real>
std::unique_ptr<Card<Real>> make_gpu_card(int) {
  not_built("transforms that go through a GPU in pieces", "give host_share = 1");
}

CompactChoice choose_compact_on_gpu(const CompactRequest&) {
  not_built("16-bit storage on GPUs", "plan with Backend::cpu");
}

template std::unique_ptr<Card<float>> make_gpu_card(int);
template std::unique_ptr<Card<double>> make_gpu_card(int);

}  // namespace sfft::detail
