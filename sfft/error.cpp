// SPDX-License-Identifier: Apache-2.0
// Names the error codes. The switch has no default case, so that the compiler reports a code without a name.
#include "sfft/error.hpp"

namespace sfft {

Error::Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
Error::~Error() = default;

const char* to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::invalid_support:
      return "invalid_support";
    case ErrorCode::shape_mismatch:
      return "shape_mismatch";
    case ErrorCode::size_overflow:
      return "size_overflow";
    case ErrorCode::type_mismatch:
      return "type_mismatch";
    case ErrorCode::not_sparse:
      return "not_sparse";
    case ErrorCode::file_unreadable:
      return "file_unreadable";
    case ErrorCode::file_corrupt:
      return "file_corrupt";
    case ErrorCode::file_version:
      return "file_version";
    case ErrorCode::backend_unavailable:
      return "backend_unavailable";
    case ErrorCode::device:
      return "device";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::in_use:
      return "in_use";
    case ErrorCode::communication:
      return "communication";
    case ErrorCode::stopped:
      return "stopped";
  }
  return "unknown";
}

}  // namespace sfft
