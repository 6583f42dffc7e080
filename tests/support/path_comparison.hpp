// SPDX-License-Identifier: Apache-2.0
// Compares what a sparse plan's kernels compute on a GPU (values, errors, error estimates) with the CPU's
// executor.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/executors/sparse_executor.hpp"
#include "kernels/cuda/stages/samples.hpp"
#include "tests/support/cpu_error_estimate.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::detail::cuda {

inline void expect_same(const DeviceErrors& got, const ErrorEstimate& expected, const std::string& what) {
  const auto near = [&](double value, double truth, const char* name) {
    EXPECT_LE(std::abs(value - truth), 1e-3 * truth + 1e-30) << name << ", " << what;
  };
  near(got.error_l2, expected.error_l2, "error_l2");
  near(got.relative_error, expected.relative_error, "relative_error");
  near(got.tail_energy, expected.tail_energy, "tail_energy");
  near(got.residual, expected.residual, "residual");
  EXPECT_EQ(got.finite, 1) << what;
}

/// Lays a frame out as the copies of a row set leave it: its rows, then the witness's samples.
template <class T>
std::vector<T> row_frame(const RowSet& set, const T* frame, const std::vector<std::int64_t>& indices,
                         std::int64_t witness) {
  std::vector<T> compact;
  for (const std::int64_t start : set.starts) {
    for (std::int64_t row = 0; row < set.rows; ++row) {
      const T* from = frame + start + row * set.step;
      compact.insert(compact.end(), from, from + set.row_elements);
    }
  }
  for (auto i = indices.end() - witness; i != indices.end(); ++i) compact.push_back(frame[*i]);
  compact.resize(static_cast<std::size_t>(set.compact_elements()));
  return compact;
}

/// Runs whole frames, compact ones and rows through one executor.
template <class Real, class T>
void compare(const SparseExecutor<Real>& device, const Expected<Real, T>& expected, const std::string& what) {
  constexpr auto type = static_cast<Element>(element_type_of<T>::value);
  const auto points = static_cast<std::size_t>(expected.shape.points());
  const std::size_t count = expected.estimates.size(), k = expected.values.size() / count;
  const test::OnDevice<T> there(expected.frames);
  const std::vector<std::int64_t>& indices = device.sample_indices();
  std::optional<test::OnDevice<Complex<Real>>> known, known_values;
  std::optional<test::OnDevice<Real>> known_witness;
  if (!expected.reference.empty()) {
    const T* frame = expected.reference.data();
    known.emplace(reference_samples<Real>(frame, type, indices, device.taps(), device.witness_samples()));
    known_witness.emplace(reference_witness<Real>(frame, type, indices, device.witness_samples()));
    std::vector<Complex<Real>> values;
    for (const auto& z : expected.reference_values) values.push_back({z.real(), z.imag()});
    known_values.emplace(values);
  }
  std::vector<T> compact(indices.size() * count);
  for (std::size_t i = 0; i < count; ++i) {
    copy_samples(
        {expected.frames.data() + i * points, points, static_cast<ElementType>(type), expected.shape},
        indices.data(), indices.size(), compact.data() + i * indices.size());
  }
  const RowSet& set = device.row_set();
  std::vector<T> rows;
  for (std::size_t i = 0; i < count && !set.empty(); ++i) {
    const auto one = row_frame(set, expected.frames.data() + i * points, indices, device.witness_samples());
    rows.insert(rows.end(), one.begin(), one.end());
  }
  const test::OnDevice<T> compact_there(compact), rows_there(rows);
  const auto state = device.make_state(static_cast<int>(count));
  for (const std::string way : {"whole", "compact", "rows"}) {
    if (way == "rows" && set.empty()) continue;
    const test::OnDevice<std::complex<Real>> values(count * k);
    const test::OnDevice<Real> errors(count * k);
    const test::OnDevice<DeviceErrors> estimates(count);
    Batch<Real> batch;
    batch.frames = way == "whole" ? there.get() : way == "rows" ? rows_there.get() : compact_there.get();
    batch.type = type;
    batch.frame_pitch = way == "rows" ? set.compact_elements()
                                      : static_cast<std::int64_t>(way == "whole" ? points : indices.size());
    batch.count = static_cast<int>(count);
    if (known) {
      batch.reference_samples = known->get();
      batch.reference_witness = known_witness->get();
      batch.reference_values = known_values->get();
    }
    batch.values = reinterpret_cast<Complex<Real>*>(values.get());
    batch.standard_error = errors.get();
    batch.errors = estimates.get();
    for (int repeat = 0; repeat < 2; ++repeat) {
      if (way == "whole") {
        device.enqueue(batch, *state, nullptr);
      } else if (way == "rows") {
        device.enqueue_rows(batch, *state, nullptr);
      } else {
        device.enqueue_compact(batch, *state, nullptr);
      }
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess) << what;
    }
    const std::string where = what + ", " + way;
    const double bound = 60 * std::numeric_limits<Real>::epsilon();
    EXPECT_LE(test::relative_l2(values.read(), expected.values), bound) << where;
    EXPECT_LE(test::relative_l2(errors.read(), expected.errors), 1e-3) << where;
    const auto got = estimates.read();
    for (std::size_t i = 0; i < count; ++i) expect_same(got[i], expected.estimates[i], where);
  }
}

}  // namespace sfft::detail::cuda
