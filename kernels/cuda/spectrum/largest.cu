// SPDX-License-Identifier: Apache-2.0
// Lays out the memory of a selection and launches its kernels in order (largest_kernels.cuh).
#include "kernels/cuda/spectrum/largest.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/spectrum/largest_kernels.cuh"
#include "sfft/error.hpp"

namespace sfft::detail::cuda {

namespace {

/// The minimum number of elements per block of the digit kernels, and the number of elements per chunk.
constexpr std::int64_t kBlockElements = 4 * kThreads;
constexpr std::int64_t kMinChunk = 8 * kThreads;
constexpr std::int64_t kMaxBlocks = 512;

std::int64_t chunk_elements(std::int64_t points) {
  const std::int64_t chunk = std::max(kMinChunk, (points + kMaxBlocks - 1) / kMaxBlocks);
  return (chunk + kThreads - 1) / kThreads * kThreads;
}

std::int64_t chunk_count(std::int64_t points) {
  return (points + chunk_elements(points) - 1) / chunk_elements(points);
}

/// Consecutive parts of an allocation.
struct Places {
  std::size_t at = 0;
  std::size_t add(std::size_t bytes) {
    const std::size_t here = at;
    at += aligned(bytes);
    return here;
  }
  template <class T>
  std::size_t add(std::int64_t count) {
    return add(static_cast<std::size_t>(count) * sizeof(T));
  }
};

/// Where the results are, from the header on. There are no gaps, so one copy takes them all.
struct ResultPlaces {
  std::size_t values, sums, indices, power, bytes;
  ResultPlaces(std::int64_t k, int cells) {
    const auto count = static_cast<std::size_t>(k);
    values = sizeof(Header);
    sums = values + count * sizeof(double2);
    indices = sums + static_cast<std::size_t>(cells) * sizeof(double);
    power = indices + count * sizeof(std::int64_t);
    bytes = power + count * sizeof(double);
  }
};
static_assert(sizeof(Header) % sizeof(double2) == 0, "values are loaded whole");

/// The workspace begins with what must be zero: the histograms, the number of listed keys and the header.
struct WorkspacePlaces {
  std::size_t bins, listed, results, list, levels, counts, first_chunk, partial, bytes;
  WorkspacePlaces(const SpectrumExtents& extents, const CellSums& sums, std::size_t result_bytes) {
    Places places;
    bins = places.add<Bits>(kPasses * kBins);
    listed = places.add<unsigned>(1);
    results = places.add(result_bytes);
    list = places.add<Bits>(kListed);
    levels = places.add<Level>(kPasses + 1);
    counts = places.add<Counts>(chunk_count(extents.points()));
    first_chunk = places.add<std::int64_t>(sums.cells() + 1);
    partial = places.add<double>(sums.chunks());
    bytes = places.at;
  }
};

double power_of(Bits key) {
  double power;
  static_assert(sizeof power == sizeof key, "powers are doubles");
  std::memcpy(&power, &key, sizeof power);
  return power;
}

template <class T>
std::vector<T> copied(const std::byte* from, std::int64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  std::memcpy(static_cast<void*>(values.data()), from, values.size() * sizeof(T));
  return values;
}

}  // namespace

SelectLargest::SelectLargest(const SpectrumExtents& extents, std::int64_t k)
    : extents_(extents),
      k_(k),
      sums_(extents),
      upload_bytes_(aligned(sums_.first_chunk().size() * sizeof(std::int64_t))),
      result_bytes_(ResultPlaces(k, sums_.cells()).bytes),
      workspace_bytes_(WorkspacePlaces(extents, sums_, result_bytes_).bytes) {}

void SelectLargest::prepare(std::byte* workspace, std::byte* host, Stream stream) const {
  const WorkspacePlaces at(extents_, sums_, result_bytes_);
  const std::size_t table_bytes = sums_.first_chunk().size() * sizeof(std::int64_t);
  std::memcpy(host, sums_.first_chunk().data(), table_bytes);
  copy_to_device(workspace + at.first_chunk, host, table_bytes, stream);
  clear(workspace, at.results + sizeof(Header), stream);
}

void SelectLargest::enqueue(const std::complex<double>* spectrum, double* power, std::byte* workspace,
                            std::byte* host, Digits digits, Stream stream) const {
  const WorkspacePlaces at(extents_, sums_, result_bytes_);
  const ResultPlaces in(k_, sums_.cells());
  std::byte* results = workspace + at.results;
  Arguments a{};
  a.memory.bins = reinterpret_cast<Bits*>(workspace + at.bins);
  a.memory.listed = reinterpret_cast<unsigned*>(workspace + at.listed);
  a.memory.list = reinterpret_cast<Bits*>(workspace + at.list);
  a.memory.header = reinterpret_cast<Header*>(results);
  a.memory.sums = reinterpret_cast<double*>(results + in.sums);
  a.memory.indices = reinterpret_cast<std::int64_t*>(results + in.indices);
  a.memory.chosen_power = reinterpret_cast<double*>(results + in.power);
  a.memory.values = reinterpret_cast<double2*>(results + in.values);
  a.memory.levels = reinterpret_cast<Level*>(workspace + at.levels);
  a.memory.counts = reinterpret_cast<Counts*>(workspace + at.counts);
  a.memory.first_chunk = reinterpret_cast<std::int64_t*>(workspace + at.first_chunk);
  a.memory.partial = reinterpret_cast<double*>(workspace + at.partial);
  a.power = power;
  a.spectrum = reinterpret_cast<const double2*>(spectrum);
  a.points = extents_.points();
  a.k = k_;
  a.chunk = chunk_elements(a.points);
  a.few = digits == Digits::few;

  LaunchShape shape;
  shape.threads = kThreads;
  shape.blocks = std::clamp<std::int64_t>((a.points + kBlockElements - 1) / kBlockElements, 1, kMaxBlocks);
  for (a.pass = 0; a.pass < (a.few ? kFewPasses : kPasses); ++a.pass)
    launch(count_digits_kernel, shape, a, stream, "counting the digits of powers");
  if (a.few) launch(list_keys_kernel, shape, a, stream, "listing powers of equal digits");
  a.pass = kPasses;
  shape.blocks = chunk_count(a.points);
  launch(count_chosen_kernel, shape, a, stream, "counting the largest powers");
  launch(take_chosen_kernel, shape, a, stream, "taking the largest powers");
  sums_.enqueue(power, power, a.memory.first_chunk, a.memory.partial, a.memory.sums, stream);
  copy_to_host(host + upload_bytes_, results, result_bytes_, stream);
}

bool SelectLargest::settled(const std::byte* host) const {
  Header header;
  std::memcpy(&header, host + upload_bytes_, sizeof header);
  return header.chosen != kUnsettled;
}

LargestOfSpectrum SelectLargest::results(const std::byte* host) const {
  const ResultPlaces in(k_, sums_.cells());
  const std::byte* results = host + upload_bytes_;
  Header header;
  std::memcpy(&header, results, sizeof header);
  if (header.chosen != k_)
    throw Error(ErrorCode::device, "the GPU selected fewer frequencies than requested");
  LargestOfSpectrum elements;
  elements.mean = {header.mean_re, header.mean_im};
  elements.largest_outside = power_of(header.outside);
  elements.indices = copied<std::int64_t>(results + in.indices, k_);
  elements.power = copied<double>(results + in.power, k_);
  elements.values = copied<std::complex<double>>(results + in.values, k_);
  elements.sums = copied<double>(results + in.sums, sums_.cells());
  return elements;
}

}  // namespace sfft::detail::cuda
