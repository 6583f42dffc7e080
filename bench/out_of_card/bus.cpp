// SPDX-License-Identifier: Apache-2.0
// Two streams copy concurrently in both directions, whole arrays or columns of them.
#include "bench/out_of_card/bus.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <tuple>

#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::bench {

namespace {

using namespace detail;

constexpr std::size_t kArray = std::size_t{2} << 30, kBytes = std::size_t{128} << 20;

/// Times copies of kBytes each in one direction.
class Way {
 public:
  using Copy = std::function<void(int number, cuda::Stream stream)>;

  void start(const Copy& copy, int repeats) {
    begin_.record(stream_.get());
    for (int i = 0; i < repeats; ++i) copy(i, stream_.get());
    end_.record(stream_.get());
  }
  double gb_s(int repeats) {
    cuda::synchronize(stream_.get());
    return static_cast<double>(kBytes) * repeats / (1e3 * begin_.us_until(end_));
  }

 private:
  cuda::OwnedStream stream_;
  cuda::Event begin_{cuda::Event::Kind::timed}, end_{cuda::Event::Kind::timed};
};

/// {"in", "out", "in_of_both", "out_of_both"}
nlohmann::json rates_of(const Way::Copy& copy_in, const Way::Copy& copy_out, int repeats) {
  Way in, out;
  const auto both = [&] {
    in.start(copy_in, repeats);
    out.start(copy_out, repeats);
    return std::pair(in.gb_s(repeats), out.gb_s(repeats));
  };
  static_cast<void>(both());
  nlohmann::json rates;
  in.start(copy_in, repeats);
  rates["in"] = in.gb_s(repeats);
  out.start(copy_out, repeats);
  rates["out"] = out.gb_s(repeats);
  std::tie(rates["in_of_both"], rates["out_of_both"]) = both();
  return rates;
}

}  // namespace

nlohmann::json bus_rates() {
  constexpr int kRepeats = 32;
  const cuda::DeviceScope scope(0);
  const cuda::PinnedBuffer host_in(kBytes), host_out(kBytes);
  const cuda::DeviceBuffer card_in(kBytes), card_out(kBytes);
  return rates_of(
      [&](int, cuda::Stream stream) { cuda::copy_to_device(card_in.data(), host_in.data(), kBytes, stream); },
      [&](int, cuda::Stream stream) { cuda::copy_to_host(host_out.data(), card_out.data(), kBytes, stream); },
      kRepeats);
}

nlohmann::json column_rates() {
  constexpr int kRepeats = 8;
  const cuda::DeviceScope scope(0);
  const cuda::PinnedBuffer host_in(kArray), host_out(kArray);
  const cuda::DeviceBuffer card_in(kBytes), card_out(kBytes);
  nlohmann::json rows = nlohmann::json::array();
  for (const std::size_t pitch : {128 << 10, (128 << 10) + 8, 512 << 10, 8 << 20}) {
    for (const std::size_t width : {1 << 10, 2 << 10, 4 << 10, 8 << 10, 11 << 10, 16 << 10, 32 << 10}) {
      const std::size_t count = std::min(kArray / pitch - 1, kBytes / width),
                        copies = kBytes / (count * width);
      /// Different columns each time, until all are copied.
      const auto each = [&](int number, const auto& copy) {
        for (std::size_t c = 0; c < copies; ++c)
          copy((static_cast<std::size_t>(number) * copies + c) % (pitch / width) * width);
      };
      nlohmann::json row = rates_of(
          [&](int number, cuda::Stream stream) {
            each(number, [&](std::size_t at) {
              cuda::copy_rows(card_in.data(), width, host_in.data() + at, pitch, width, count, stream);
            });
          },
          [&](int number, cuda::Stream stream) {
            each(number, [&](std::size_t at) {
              cuda::copy_rows(host_out.data() + at, pitch, card_out.data(), width, width, count, stream);
            });
          },
          kRepeats);
      // A whole number of copies may be less than kBytes.
      for (auto& rate : row)
        rate = rate.get<double>() * static_cast<double>(copies * count * width) / static_cast<double>(kBytes);
      row["pitch"] = pitch;
      row["width"] = width;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::shared_ptr<std::byte> page_locked(std::shared_ptr<std::byte> memory, std::size_t bytes) {
  const cuda::DeviceScope scope(0);
  const cudaError_t status =
      cudaHostRegister(memory.get(), bytes, cudaHostRegisterPortable | cudaHostRegisterMapped);
  if (status != cudaSuccess)
    throw std::runtime_error("page-locking the array: " + std::string(cudaGetErrorString(status)));
  std::byte* const data = memory.get();
  return {data,
          [memory = std::move(memory)](std::byte* locked) { static_cast<void>(cudaHostUnregister(locked)); }};
}

}  // namespace sfft::bench
