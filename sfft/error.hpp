// SPDX-License-Identifier: Apache-2.0
// Errors of the library: one exception type with a code that programs can test and a sentence for people.
#pragma once

#include <stdexcept>
#include <string>

#include "sfft/export.hpp"

namespace sfft {

enum class ErrorCode {
  invalid_argument,     ///< a value outside its domain: k = 0, a negative accuracy, a null pointer
  invalid_support,      ///< duplicate, out-of-range or conjugate-redundant template frequencies
  shape_mismatch,       ///< the signal's shape or length is not the one the template or plan was made for
  size_overflow,        ///< a shape whose number of points cannot be addressed
  type_mismatch,        ///< a complex signal for a real template, or the reverse
  not_sparse,           ///< the path cannot reach the accuracy, or learning by discovery was not verified
  file_unreadable,      ///< cannot be opened, read or written
  file_corrupt,         ///< truncated, damaged or not one of our files
  file_version,         ///< written by a version of the library that this one cannot read
  backend_unavailable,  ///< the backend or engine is not in this build or not on this machine
  device,               ///< the GPU or its driver failed
  out_of_memory,        ///< host or device memory; the sentence says how much was needed
  in_use,               ///< another thread is using the workspace or tracker at this moment
  communication,  ///< in a transform over several processes, another process failed or no longer answers
  stopped,        ///< the call ended because the caller requested it (run_with_control())
};

/// Thrown by every function of the library that fails. `what()` is one sentence that names the offending
/// value and says what to change. A poor result (stale template, large residual, NaN in a frame) is never an
/// error: it is data in the result.
class SFFT_EXPORT Error : public std::runtime_error {
 public:
  /// `message`: one sentence that names the value and says what to change.
  Error(ErrorCode code, const std::string& message);
  /// Never throws.
  Error(const Error&) noexcept = default;
  /// Never throws.
  Error& operator=(const Error&) noexcept = default;
  ~Error() override;  // not inline: only this library defines the type information
  /// For programs that react to some errors.
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

/// The code's name, e.g. "shape_mismatch". Static storage.
SFFT_EXPORT const char* to_string(ErrorCode code) noexcept;

}  // namespace sfft
