// SPDX-License-Identifier: Apache-2.0
// RAII for HDF5 identifiers. Included only in builds with HDF5.
#pragma once

#include <fmt/format.h>
#include <hdf5.h>

#include "sfft/error.hpp"

namespace sfft::video {

[[noreturn]] inline void fail_hdf5(const char* what) {
  throw Error(ErrorCode::file_unreadable,
              fmt::format("cannot write the spectra file: {} failed: is the disk full?", what));
}

inline void check_hdf5(herr_t status, const char* what) {
  if (status < 0) fail_hdf5(what);
}

/// An HDF5 identifier that closes itself.
class Hdf5Handle {
 public:
  Hdf5Handle(hid_t id, herr_t (*closing)(hid_t), const char* what) : id_(id), close_(closing) {
    if (id < 0) fail_hdf5(what);
  }
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(other.id_), close_(other.close_) { other.id_ = -1; }
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(Hdf5Handle&&) = delete;
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const noexcept { return id_; }  // NOLINT

  /// Closes the object, which flushes what HDF5 has buffered.
  void close(const char* what) {
    const hid_t id = id_;
    id_ = -1;
    check_hdf5(close_(id), what);
  }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

}  // namespace sfft::video
