// SPDX-License-Identifier: Apache-2.0
// Two streams copy concurrently in both directions, whole arrays or columns of them.
#include "bench/out_of_core/bus.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::bench {

namespace {

using namespace detail;

constexpr std::size_t kArray = std::size_t{2} << 30, kBytes = std::size_t{128} << 20;

/// Times copies of kBytes each in one direction.
class CopyDirection {
 public:
  using Copy = std::function<void(int number, cuda::Stream stream)>;

  void start(const Copy& copy, int repeats) {
    begin_.record(stream_.get());
    for (int i = 0; i < repeats; ++i) copy(i, stream_.get());
    end_.record(stream_.get());
  }
  double gb_s(int repeats) {
    stream_.wait();
    return static_cast<double>(kBytes) * repeats / (1e3 * begin_.us_until(end_));
  }

 private:
  cuda::Queue stream_;
  cuda::Event begin_{cuda::Event::Kind::timed}, end_{cuda::Event::Kind::timed};
};

/// Both directions of a GPU.
class Bus {
 public:
  Bus(int device, CopyDirection::Copy in, CopyDirection::Copy out)
      : device_(device), in_copy_(std::move(in)), out_copy_(std::move(out)) {
    const cuda::DeviceScope scope(device_);
    in_ = std::make_unique<CopyDirection>();
    out_ = std::make_unique<CopyDirection>();
  }

  void start_in(int repeats) { start(*in_, in_copy_, repeats); }
  void start_out(int repeats) { start(*out_, out_copy_, repeats); }
  double in_gb_s(int repeats) { return rate(*in_, repeats); }
  double out_gb_s(int repeats) { return rate(*out_, repeats); }

 private:
  void start(CopyDirection& way, const CopyDirection::Copy& copy, int repeats) {
    const cuda::DeviceScope scope(device_);
    way.start(copy, repeats);
  }
  double rate(CopyDirection& way, int repeats) {
    const cuda::DeviceScope scope(device_);
    return way.gb_s(repeats);
  }

  int device_;
  CopyDirection::Copy in_copy_, out_copy_;
  std::unique_ptr<CopyDirection> in_, out_;
};

/// Rates {"in", "out", "in_of_both", "out_of_both"}, summed over all buses.
nlohmann::json rates_of(std::vector<Bus> buses, int repeats) {
  const auto sum = [&](double (Bus::*rate)(int)) {
    double all = 0;
    for (Bus& bus : buses) all += (bus.*rate)(repeats);
    return all;
  };
  const auto both = [&] {
    for (Bus& bus : buses) {
      bus.start_in(repeats);
      bus.start_out(repeats);
    }
    return std::pair(sum(&Bus::in_gb_s), sum(&Bus::out_gb_s));
  };
  static_cast<void>(both());
  nlohmann::json rates;
  for (Bus& bus : buses) bus.start_in(repeats);
  rates["in"] = sum(&Bus::in_gb_s);
  for (Bus& bus : buses) bus.start_out(repeats);
  rates["out"] = sum(&Bus::out_gb_s);
  std::tie(rates["in_of_both"], rates["out_of_both"]) = both();
  return rates;
}

/// The memory that one GPU copies to and from.
struct BusMemory {
  cuda::PinnedBuffer host_in{kBytes}, host_out{kBytes};
  cuda::DeviceBuffer device_in{kBytes}, device_out{kBytes};
};

}  // namespace

nlohmann::json bus_rates(int gpus) {
  constexpr int kRepeats = 32;
  std::vector<Bus> buses;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    const cuda::DeviceScope scope(gpu);
    const auto memory = std::make_shared<BusMemory>();
    buses.emplace_back(
        gpu,
        [memory](int, cuda::Stream stream) {
          cuda::copy_to_device(memory->device_in.data(), memory->host_in.data(), kBytes, stream);
        },
        [memory](int, cuda::Stream stream) {
          cuda::copy_to_host(memory->host_out.data(), memory->device_out.data(), kBytes, stream);
        });
  }
  return rates_of(std::move(buses), kRepeats);
}

nlohmann::json column_rates() {
  constexpr int kRepeats = 8;
  const cuda::DeviceScope scope(0);
  const cuda::PinnedBuffer host_in(kArray), host_out(kArray);
  const cuda::DeviceBuffer device_in(kBytes), device_out(kBytes);
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
      const auto columns = [&](const cuda::PinnedBuffer& array, std::size_t at) {
        const auto size = [](std::size_t bytes) { return static_cast<std::int64_t>(bytes); };
        return Rows{array.data() + at, size(pitch), size(width), size(count)};
      };
      std::vector<Bus> buses;
      buses.emplace_back(
          0,
          [&](int number, cuda::Stream stream) {
            each(number, [&](std::size_t at) {
              const Rows host = columns(host_in, at);
              cuda::copy(host.packed_at(device_in.data()), host, stream);
            });
          },
          [&](int number, cuda::Stream stream) {
            each(number, [&](std::size_t at) {
              const Rows host = columns(host_out, at);
              cuda::copy(host, host.packed_at(device_out.data()), stream);
            });
          });
      nlohmann::json row = rates_of(std::move(buses), kRepeats);
      // The copies may cover less than kBytes.
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
