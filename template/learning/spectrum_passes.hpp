// SPDX-License-Identifier: Apache-2.0
// A dense spectrum that is computed in parts and passed to a selection while each part is in cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "sfft/types.hpp"
#include "template/learning/largest_elements.hpp"

namespace sfft::detail {

/// Two passes over memory; the second needs the complete result of the first. Parts of a pass may run
/// concurrently, each with its own scratch. Immutable, thread-safe. Elements are numbered as in
/// SpectrumLayout.
class SpectrumPasses {
 public:
  virtual ~SpectrumPasses() = default;

  virtual std::int64_t first_parts() const noexcept = 0;
  virtual std::int64_t second_parts() const noexcept = 0;
  /// Whether each part of the second pass is a fair sample of all frequencies.
  virtual bool parts_are_alike() const noexcept { return false; }
  /// Sizes of the memory between the passes and of one call's scratch, both 64-byte aligned.
  virtual std::size_t between_bytes() const noexcept = 0;
  virtual std::size_t scratch_bytes() const noexcept = 0;

  /// `signal`: all elements of the shape, contiguous.
  virtual void first(std::int64_t part, const void* signal, ElementType type, std::byte* between,
                     std::byte* scratch) const = 0;
  virtual void second(std::int64_t part, std::byte* between, std::byte* scratch,
                      PartialSelection& selection) const = 0;
  /// The second pass without a selection: writes the coefficients to their places in `spectrum`.
  virtual void store(std::int64_t part, std::byte* between, std::byte* scratch,
                     std::complex<double>* spectrum) const = 0;
};

/// The passes for a shape. The process keeps those of the last few shapes if their tables are small: building
/// the tables of a short signal takes as long as its transform. Thread-safe.
std::shared_ptr<const SpectrumPasses> spectrum_passes(const Shape& shape, bool real);

}  // namespace sfft::detail
