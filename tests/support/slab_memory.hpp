// SPDX-License-Identifier: Apache-2.0
// Allocates memory for plans over several GPUs, and lists the GPUs that tests run on.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/cuda/runtime/peers.hpp"
#include "sfft/dense_slabs.hpp"
#include "tests/support/dense_device.hpp"
#include "tests/support/throws.hpp"

namespace sfft::test {

inline const std::vector<int> kTwo{0, 0}, kThree{0, 0, 0}, kFour{0, 0, 0, 0};

/// Returns lists that name one GPU several times and, if the machine has several, different GPUs with one of
/// them named twice. Plans follow such lists even if fewer GPUs would be faster.
inline std::vector<std::vector<int>> device_lists() {
  std::vector<std::vector<int>> lists{kTwo, kThree, kFour};
  std::vector<int> all;
  for (int device = 0; device < detail::cuda::device_count(); ++device) all.push_back(device);
  if (all.size() < 2 || code_of([&] { detail::cuda::check_several(all); })) return lists;
  std::vector<int> twice = all;
  twice.insert(twice.end(), all.begin(), all.end());
  if (twice.size() <= 4) lists.push_back(twice);
  for (const std::vector<int>& list : {std::vector<int>{0, 1, 0}, std::vector<int>{1, 0, 0}})
    lists.push_back(list);
  return lists;
}

/// Memory of one call on all entries of the list: `Sample`s of a signal, spectra, workspaces full of NaN, and
/// streams.
template <class Real, class Sample>
class SlabMemory {
 public:
  using Value = std::complex<Real>;

  SlabMemory(std::span<const dense::Slab> signals, std::span<const dense::Slab> spectra,
             const std::function<std::size_t(std::size_t)>& workspace_bytes) {
    for (std::size_t s = 0; s < signals.size(); ++s) {
      const detail::cuda::DeviceScope scope(signals[s].gpu);
      signal_.emplace_back(static_cast<std::size_t>(signals[s].points()));
      spectrum_.emplace_back(static_cast<std::size_t>(spectra[s].points()));
      workspace_.emplace_back(workspace_bytes(s));
      stream_.emplace_back();
      detail::cuda::synchronize(nullptr);  // the memory is poisoned now; streams of copies do not wait for it
    }
    for (std::size_t s = 0; s < signals.size(); ++s) {
      signals_.push_back(signal_[s].get());
      spectra_.push_back(spectrum_[s].get());
      workspaces_.push_back(workspace_[s].get());
      streams_.push_back(stream_[s].get());
    }
  }

  std::span<Sample* const> signals() const { return signals_; }
  std::vector<const void*> inputs() const { return {signals_.begin(), signals_.end()}; }
  std::vector<void*> places() const { return {signals_.begin(), signals_.end()}; }
  std::span<Value* const> spectra() const { return spectra_; }
  std::vector<const Value*> results() const { return {spectra_.begin(), spectra_.end()}; }
  std::vector<const void*> spectrum_inputs() const { return {spectra_.begin(), spectra_.end()}; }
  std::vector<void*> spectrum_places() const { return {spectra_.begin(), spectra_.end()}; }
  std::span<const std::span<std::byte>> workspaces() const { return workspaces_; }
  std::vector<std::byte*> workspace_data() const {
    std::vector<std::byte*> data;
    for (const auto& workspace : workspaces_) data.push_back(workspace.data());
    return data;
  }
  std::span<CUstream_st* const> streams() const { return streams_; }
  void finish() const {
    for (CUstream_st* stream : streams_) detail::cuda::synchronize(stream);
  }

 private:
  std::vector<OnDevice<Sample>> signal_;
  std::vector<OnDevice<Value>> spectrum_;
  std::vector<Workspace> workspace_;
  std::vector<detail::cuda::Queue> stream_;
  std::vector<Sample*> signals_;
  std::vector<Value*> spectra_;
  std::vector<std::span<std::byte>> workspaces_;
  std::vector<CUstream_st*> streams_;
};

}  // namespace sfft::test
