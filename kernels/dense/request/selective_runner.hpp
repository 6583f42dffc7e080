// SPDX-License-Identifier: Apache-2.0
// The interface behind selective dense plans, which keep only a part of dense spectra on a GPU.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/dense/request/runner.hpp"
#include "sfft/dense_options.hpp"

namespace sfft::detail {

/// Arguments have been checked.
template <class Real>
class SelectiveRunner {
 public:
  virtual ~SelectiveRunner() = default;

  virtual std::size_t device_workspace_bytes() const noexcept = 0;
  virtual void enqueue_above(const void* signals, ElementType type, Real magnitude,
                             const dense::DeviceCoefficients<Real>& kept, std::byte* workspace,
                             CUstream_st* stream) const = 0;
  virtual void enqueue_at(const void* signals, ElementType type, std::complex<Real>* values,
                          std::byte* workspace, CUstream_st* stream) const = 0;
  /// Arrays are in host memory. Appends to `indices` and `values`, by ascending index.
  virtual void above(const void* signals, ElementType type, Real magnitude,
                     std::vector<std::int64_t>& indices, std::vector<std::complex<Real>>& values) const = 0;
  virtual void at(const void* signals, ElementType type, std::span<std::complex<Real>> values) const = 0;
  virtual bool stores_spectrum() const noexcept = 0;
  virtual dense::Engine engine() const noexcept = 0;
  virtual std::string name() const = 0;
};

/// Keeps the coefficients at `support` or, if it is empty, those above a magnitude. Throws like
/// choose_on_gpu().
template <class Real>
std::unique_ptr<const SelectiveRunner<Real>> select_on_gpu(const DenseRequest& request,
                                                           std::span<const std::int64_t> support);

}  // namespace sfft::detail
