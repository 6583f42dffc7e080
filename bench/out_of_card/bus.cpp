// SPDX-License-Identifier: Apache-2.0
// Two streams copy for a while in both directions; rows that lie apart are timed by their length.
#include "bench/out_of_card/bus.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::bench {

namespace {

using namespace detail;

constexpr std::size_t kBytes = std::size_t{512} << 20;
constexpr int kRepeats = 8;

double gb_s(const cuda::Event& begin, const cuda::Event& end) {
  return static_cast<double>(kBytes) * kRepeats / (1e3 * begin.us_until(end));
}

}  // namespace

nlohmann::json bus_rates() {
  const cuda::DeviceScope scope(0);
  const cuda::PinnedBuffer host_in(2 * kBytes), host_out(kBytes);
  const cuda::DeviceBuffer card_in(kBytes), card_out(kBytes);
  const cuda::OwnedStream in, out;
  cuda::Event in_begin(cuda::Event::Kind::timed), in_end(cuda::Event::Kind::timed),
      out_begin(cuda::Event::Kind::timed), out_end(cuda::Event::Kind::timed);
  const auto copy_in = [&] { cuda::copy_to_device(card_in.data(), host_in.data(), kBytes, in.get()); };
  const auto copy_out = [&] { cuda::copy_to_host(host_out.data(), card_out.data(), kBytes, out.get()); };
  nlohmann::json rates;
  const auto run = [&](bool inwards, bool outwards) {
    if (inwards) in_begin.record(in.get());
    if (outwards) out_begin.record(out.get());
    for (int i = 0; i < kRepeats; ++i) {
      if (inwards) copy_in();
      if (outwards) copy_out();
    }
    if (inwards) in_end.record(in.get());
    if (outwards) out_end.record(out.get());
    cuda::synchronize(in.get());
    cuda::synchronize(out.get());
  };
  run(true, true);
  run(true, false);
  rates["in"] = gb_s(in_begin, in_end);
  run(false, true);
  rates["out"] = gb_s(out_begin, out_end);
  run(true, true);
  rates["in_of_both"] = gb_s(in_begin, in_end);
  rates["out_of_both"] = gb_s(out_begin, out_end);
  for (const std::size_t width : {256, 1024, 4096, 16384, 65536}) {
    in_begin.record(in.get());
    for (int i = 0; i < kRepeats; ++i)
      cuda::copy_rows(card_in.data(), width, host_in.data(), 2 * width, width, kBytes / width, in.get());
    in_end.record(in.get());
    cuda::synchronize(in.get());
    rates[fmt::format("in_rows_of_{}", width)] = gb_s(in_begin, in_end);
  }
  return rates;
}

}  // namespace sfft::bench
