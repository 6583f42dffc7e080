// SPDX-License-Identifier: Apache-2.0
// Checks that a method can handle the length and sparsity, chooses its parameters, and creates it.
#include "bench/peers/peer.hpp"

#include <fmt/format.h>

#include <bit>

#include "bench/peers/aafft.hpp"
#include "bench/peers/ffast.hpp"
#include "bench/peers/sfft1.hpp"
#include "bench/peers/sfft3.hpp"
#include "sfft/error.hpp"

namespace sfft::peers {

namespace {

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ErrorCode::invalid_argument, sentence);
}

void check(Method method, std::int64_t points, std::int64_t k) {
  if (k < 1) refuse(fmt::format("{}: k is {}; it must be at least 1", to_string(method), k));
  if (method != Method::ffast && (points < 1 || !std::has_single_bit(static_cast<std::uint64_t>(points)))) {
    refuse(fmt::format("{} needs a power of two, not {} points", to_string(method), points));
  }
  // For shorter signals the first round would have more buckets than there are samples.
  if (points < 64 * k) {
    refuse(fmt::format("{} needs 64 points a term: {} points are too few for k = {}", to_string(method),
                       points, k));
  }
}

}  // namespace

const char* to_string(Method method) noexcept {
  switch (method) {
    case Method::sfft1:
      return "sFFT-1.0";
    case Method::sfft2:
      return "sFFT-2.0";
    case Method::sfft3:
      return "sFFT-3.0";
    case Method::aafft:
      return "AAFFT 0.9";
    case Method::ffast:
      return "FFAST";
  }
  return "unknown";
}

template <class Real>
std::unique_ptr<Peer<Real>> make_peer(Method method, std::int64_t points, std::int64_t k,
                                      std::uint64_t seed) {
  check(method, points, k);
  switch (method) {
    case Method::sfft1:
    case Method::sfft2: {
      const auto parameters = Sfft1Parameters::choose(points, k, method == Method::sfft2);
      return std::make_unique<Sfft1<Real>>(points, k, parameters, seed);
    }
    case Method::sfft3:
      return std::make_unique<Sfft3<Real>>(points, k, seed);
    case Method::aafft:
      return std::make_unique<Aafft<Real>>(points, k, seed);
    case Method::ffast: {
      const std::vector<std::int64_t> stages = ffast_stages(points, k);
      if (stages.empty()) {
        refuse(
            fmt::format("FFAST needs a length with co-prime divisors of about k: {} points have none for "
                        "k = {}; ffast_length() gives one",
                        points, k));
      }
      return std::make_unique<Ffast<Real>>(points, k, stages);
    }
  }
  refuse("unknown method");
}

template std::unique_ptr<Peer<float>> make_peer<float>(Method, std::int64_t, std::int64_t, std::uint64_t);
template std::unique_ptr<Peer<double>> make_peer<double>(Method, std::int64_t, std::int64_t, std::uint64_t);

}  // namespace sfft::peers
