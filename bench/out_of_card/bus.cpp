// SPDX-License-Identifier: Apache-2.0
// Two streams copy for a while in both directions, whole arrays or columns of them.
#include "bench/out_of_card/bus.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "kernels/cpu/platform/large_buffer.hpp"
#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/stages/row_copy.hpp"

extern "C" int cudaHostRegister(void*, std::size_t, unsigned);
extern "C" int cudaHostUnregister(void*);

namespace sfft::bench {

namespace {

using namespace detail;

constexpr std::size_t kArray = std::size_t{2} << 30, kBytes = std::size_t{128} << 20;
constexpr int kRepeats = 8;

/// Rates of copies queued by `in` and `out`, either of which may be null, at the same time.
class Timer {
 public:
  using Copy = std::function<void(int, cuda::Stream)>;

  std::pair<double, double> gb_s(const Copy& in, const Copy& out, int repeats = kRepeats) {
    for (Way* way : {&in_, &out_}) way->copy = way == &in_ ? &in : &out;
    for (Way* way : {&in_, &out_})
      if (*way->copy) way->begin.record(way->stream.get());
    for (int i = 0; i < repeats; ++i)
      for (Way* way : {&in_, &out_})
        if (*way->copy) (*way->copy)(i, way->stream.get());
    for (Way* way : {&in_, &out_})
      if (*way->copy) way->end.record(way->stream.get());
    double rates[2] = {0, 0};
    for (Way* way : {&in_, &out_}) {
      cuda::synchronize(way->stream.get());
      if (*way->copy)
        rates[way == &out_] = static_cast<double>(kBytes) * repeats / (1e3 * way->begin.us_until(way->end));
    }
    return {rates[0], rates[1]};
  }

 private:
  struct Way {
    const Copy* copy = nullptr;
    cuda::OwnedStream stream;
    cuda::Event begin{cuda::Event::Kind::timed}, end{cuda::Event::Kind::timed};
  };
  Way in_, out_;
};

double rounded(double value) {
  return static_cast<double>(static_cast<int>(10 * value)) / 10;
}

}  // namespace

nlohmann::json bus_rates() {
  const cuda::DeviceScope scope(0);
  const cuda::PinnedBuffer host_in(kBytes), host_out(kBytes);
  const cuda::DeviceBuffer card_in(kBytes), card_out(kBytes);
  Timer timer;
  const Timer::Copy in = [&](int, cuda::Stream s) {
    cuda::copy_to_device(card_in.data(), host_in.data(), kBytes, s);
  };
  const Timer::Copy out = [&](int, cuda::Stream s) {
    cuda::copy_to_host(host_out.data(), card_out.data(), kBytes, s);
  };
  constexpr int kLong = 32;
  static_cast<void>(timer.gb_s(in, out, kLong));
  nlohmann::json rates;
  rates["in"] = timer.gb_s(in, nullptr, kLong).first;
  rates["out"] = timer.gb_s(nullptr, out, kLong).second;
  std::tie(rates["in_of_both"], rates["out_of_both"]) = timer.gb_s(in, out, kLong);
  return rates;
}

nlohmann::json strided_bus_rates() {
  const cuda::DeviceScope scope(0);
  const cuda::DeviceBuffer card_in(kBytes), card_out(kBytes);
  Timer timer;
  nlohmann::json rows = nlohmann::json::array();
  for (const bool large_pages : {false, true}) {
    std::byte* in_memory = nullptr;
    std::byte* out_memory = nullptr;
    cuda::PinnedBuffer pinned_in, pinned_out;
    cpu::LargeBuffer large_in, large_out;
    if (large_pages) {
      large_in = cpu::make_large_buffer(kArray);
      large_out = cpu::make_large_buffer(kArray);
      in_memory = large_in.get();
      out_memory = large_out.get();
      std::memset(in_memory, 0, kArray);
      std::memset(out_memory, 0, kArray);
      cuda::check(cudaHostRegister(in_memory, kArray, 3), "registering");
      cuda::check(cudaHostRegister(out_memory, kArray, 3), "registering");
    } else {
      pinned_in = cuda::PinnedBuffer(kArray);
      pinned_out = cuda::PinnedBuffer(kArray);
      in_memory = pinned_in.data();
      out_memory = pinned_out.data();
      std::memset(in_memory, 0, kArray);
      std::memset(out_memory, 0, kArray);
    }
    for (const std::size_t pitch : {std::size_t{128} << 10, (std::size_t{128} << 10) + 8,
                                    std::size_t{512} << 10, std::size_t{8} << 20}) {
      for (const std::size_t width : {1024, 2048, 4096, 8192, 11264, 16384, 32768, 65536}) {
        const std::size_t count = std::min(kArray / pitch - 1, kBytes / width),
                          repeats = kBytes / (count * width);
        const std::size_t across = pitch / width;
        for (const bool kernel : {false, true}) {
          const auto copy = [&](std::byte* card, std::byte* host, bool inwards) -> Timer::Copy {
            return [=](int i, cuda::Stream s) {
              for (std::size_t r = 0; r < repeats; ++r) {
                std::byte* const at = host + (static_cast<std::size_t>(i) * repeats + r) % across * width;
                std::byte* const to = inwards ? card : at;
                std::byte* const from = inwards ? at : card;
                const std::size_t to_pitch = inwards ? width : pitch, from_pitch = inwards ? pitch : width;
                (kernel ? cuda::launch_copy_rows : cuda::copy_rows)(to, to_pitch, from, from_pitch, width,
                                                                    count, s);
              }
            };
          };
          const Timer::Copy in = copy(card_in.data(), in_memory, true),
                            out = copy(card_out.data(), out_memory, false);
          static_cast<void>(timer.gb_s(in, out, 1));
          const double alone_in = timer.gb_s(in, nullptr, 4).first,
                       alone_out = timer.gb_s(nullptr, out, 4).second;
          const auto both = timer.gb_s(in, out, 4);
          rows.push_back({{"large_pages", large_pages},
                          {"pitch", pitch},
                          {"width", width},
                          {"kernel", kernel},
                          {"in", rounded(alone_in)},
                          {"out", rounded(alone_out)},
                          {"in_of_both", rounded(both.first)},
                          {"out_of_both", rounded(both.second)}});
          fmt::print("{}\n", rows.back().dump());
        }
      }
    }
    if (large_pages) {
      cudaHostUnregister(in_memory);
      cudaHostUnregister(out_memory);
    }
  }
  return rows;
}

}  // namespace sfft::bench
