// SPDX-License-Identifier: Apache-2.0
// Tests the ring of page-locked buffers: results arrive in order and in the right spectra, even if the ring
// grows while they are in flight; after abandon() nothing arrives. The host writes in place of kernels.
#include "sfft/plan/host_ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <vector>

#include "tests/support/gpu.hpp"

namespace sfft::detail::host_ring_cuda_test {
namespace {

class HostRingCuda : public test::GpuTest {};

constexpr std::int64_t kFrequencies = 70;

std::complex<float> value_of(int batch, int frame, std::int64_t i) {
  return {static_cast<float>(1000 * batch + 10 * frame), static_cast<float>(i)};
}

std::vector<Spectrum<float>> empty_spectra(int frames) {
  std::vector<Spectrum<float>> spectra(static_cast<std::size_t>(frames));
  for (Spectrum<float>& spectrum : spectra) {
    spectrum.values.resize(kFrequencies);
    spectrum.standard_error.resize(kFrequencies);
  }
  return spectra;
}

/// Sends a batch of results with distinct values through the next slot.
void send(HostRing<float>& ring, int batch, std::vector<Spectrum<float>>& spectra) {
  auto& slot = ring.next();
  const auto frames = static_cast<int>(spectra.size());
  const Plan<float>::DeviceSpectra to = slot.spectra(frames);
  std::vector<std::complex<float>> values;
  std::vector<float> errors;
  std::vector<Quality> estimates(spectra.size());
  for (int frame = 0; frame < frames; ++frame) {
    for (std::int64_t i = 0; i < kFrequencies; ++i) {
      values.push_back(value_of(batch, frame, i));
      errors.push_back(static_cast<float>(batch + i));
    }
    Quality& estimate = estimates[static_cast<std::size_t>(frame)];
    estimate.error_l2 = batch + 0.25;
    estimate.finite = frame % 2;
  }
  const auto put = [](auto* to_values, const auto& from) {
    std::memcpy(to_values, from.data(), from.size() * sizeof(from[0]));
  };
  put(to.values, values);
  put(to.standard_error, errors);
  put(to.errors, estimates);
  ring.copy(slot, slot.device.data(), errors.data(), std::min(slot.device.bytes(), errors.size() * 4));
  cuda::synchronize(ring.stream());  // `errors` is destroyed when this function returns
  ring.finish(slot, spectra, 7 * batch);
}

void expect_arrived(const std::vector<Spectrum<float>>& spectra, int batch) {
  for (std::size_t frame = 0; frame < spectra.size(); ++frame) {
    const Spectrum<float>& spectrum = spectra[frame];
    for (std::int64_t i = 0; i < kFrequencies; ++i) {
      const auto at = static_cast<std::size_t>(i);
      ASSERT_EQ(spectrum.values[at], value_of(batch, static_cast<int>(frame), i)) << batch << " " << frame;
      ASSERT_EQ(spectrum.standard_error[at], static_cast<float>(batch + i));
    }
    EXPECT_EQ(spectrum.quality.error_l2, batch + 0.25);
    EXPECT_EQ(spectrum.quality.finite, frame % 2 != 0);
    EXPECT_EQ(spectrum.transferred_bytes, 7 * batch);
    EXPECT_GT(spectrum.transfer_us, 0);
  }
}

TEST_F(HostRingCuda, ResultsArriveInOrderAndNoLaterThanTheirSlotIsNeeded) {
  HostRing<float> ring(kFrequencies);
  ring.fit(4096, 5);
  EXPECT_EQ(ring.capacity(), 5);
  EXPECT_GT(ring.bytes(), 3u * 2 * 5 * 4096);
  std::vector<std::vector<Spectrum<float>>> batches;
  for (int batch = 1; batch <= 11; ++batch) batches.push_back(empty_spectra(1 + batch % 5));
  for (int batch = 1; batch <= 11; ++batch) {
    send(ring, batch, batches[static_cast<std::size_t>(batch - 1)]);
    if (batch > HostRing<float>::kSlots) {
      const int before = batch - HostRing<float>::kSlots;
      expect_arrived(batches[static_cast<std::size_t>(before - 1)], before);
    }
    // The latest batch is still in flight, so nothing was written to its spectra.
    EXPECT_EQ(batches[static_cast<std::size_t>(batch - 1)][0].values[0], std::complex<float>());
  }
  ring.drain();
  for (int batch = 1; batch <= 11; ++batch)
    expect_arrived(batches[static_cast<std::size_t>(batch - 1)], batch);
  ring.drain();  // draining an empty ring does nothing
}

TEST_F(HostRingCuda, GrowsWithWorkUnderWayAndNeverShrinks) {
  HostRing<float> ring(kFrequencies);
  ring.fit(1000, 2);
  auto first = empty_spectra(2);
  send(ring, 1, first);
  ring.fit(1000, 9);
  expect_arrived(first, 1);
  EXPECT_EQ(ring.capacity(), 9);
  auto second = empty_spectra(9);
  send(ring, 2, second);
  const std::size_t bytes = ring.bytes();
  ring.fit(1000, 3);
  EXPECT_EQ(ring.bytes(), bytes);
  EXPECT_EQ(second[0].values[0], std::complex<float>()) << "nothing had to grow, nothing is waited for";
  ring.fit(100, 1000);  // a slot fits a few frames, but not all
  expect_arrived(second, 2);
  EXPECT_EQ(ring.capacity(), 64);
  auto third = empty_spectra(64);
  send(ring, 3, third);
  ring.drain();
  expect_arrived(third, 3);
}

TEST_F(HostRingCuda, NothingArrivesAfterItIsAbandoned) {
  HostRing<float> ring(kFrequencies);
  ring.fit(1000, 4);
  auto lost = empty_spectra(4);
  send(ring, 1, lost);
  ring.abandon();
  ring.drain();
  EXPECT_EQ(lost[0].values[1], std::complex<float>());
  auto kept = empty_spectra(3);
  send(ring, 2, kept);
  ring.drain();
  expect_arrived(kept, 2);
}

}  // namespace
}  // namespace sfft::detail::host_ring_cuda_test
