// SPDX-License-Identifier: Apache-2.0
#include "video/spectra_file.hpp"

#include "sfft/error.hpp"

#if SFFT_HAVE_HDF5

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <optional>
#include <string>

namespace sfft::video {

bool has_hdf5() noexcept {
  return true;
}

namespace {

bool abandoned = false;  // see Hdf5File

[[noreturn]] void fail(const char* what) {
  abandoned = true;
  throw Error(ErrorCode::file_unreadable,
              fmt::format("cannot write the spectra file: {} failed: is the disk full?", what));
}

void check(herr_t status, const char* what) {
  if (status < 0) fail(what);
}

/// An HDF5 identifier that closes itself, unless something failed.
class Handle {
 public:
  Handle(hid_t id, herr_t (*closing)(hid_t), const char* what) : id_(id), close_(closing) {
    if (id < 0) fail(what);
  }
  Handle(Handle&& other) noexcept : id_(other.id_), close_(other.close_) { other.id_ = -1; }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (id_ >= 0 && !abandoned) close_(id_);
  }
  operator hid_t() const noexcept { return id_; }  // NOLINT

  /// Closes, which writes what HDF5 has kept until now.
  void close(const char* what) {
    const hid_t id = id_;
    id_ = -1;
    check(close_(id), what);
  }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// What h5py reads as complex64.
Handle complex_type() {
  Handle type(H5Tcreate(H5T_COMPOUND, sizeof(std::complex<float>)), H5Tclose, "a complex type");
  check(H5Tinsert(type, "r", 0, H5T_NATIVE_FLOAT), "a complex type");
  check(H5Tinsert(type, "i", sizeof(float), H5T_NATIVE_FLOAT), "a complex type");
  return type;
}

/// A data set that grows by rows.
class Rows {
 public:
  Rows(hid_t file, const char* name, hid_t type, hsize_t columns)
      : type_(H5Tcopy(type), H5Tclose, name),
        columns_(columns),
        set_(create(file, name, type, columns), H5Dclose, name) {}

  void append(const void* row) {
    const hsize_t size[2] = {count_ + 1, columns_};
    check(H5Dset_extent(set_, size), "growing");
    const Handle space(H5Dget_space(set_), H5Sclose, "a data space");
    const hsize_t start[2] = {count_, 0};
    const hsize_t extent[2] = {1, columns_};
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, extent, nullptr), "a selection");
    const Handle memory(H5Screate_simple(2, extent, nullptr), H5Sclose, "a data space");
    check(H5Dwrite(set_, type_, memory, space, H5P_DEFAULT, row), "writing");
    ++count_;
  }

  void close() { set_.close("writing the last rows"); }

 private:
  static hid_t create(hid_t file, const char* name, hid_t type, hsize_t columns) {
    const hsize_t none[2] = {0, columns};
    const hsize_t most[2] = {H5S_UNLIMITED, columns};
    const Handle space(H5Screate_simple(2, none, most), H5Sclose, name);
    const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, name);
    const hsize_t chunk[2] = {std::max<hsize_t>(1, 65536 / columns), columns};
    check(H5Pset_chunk(properties, 2, chunk), name);
    return H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  }
  Handle type_;
  hsize_t columns_;
  Handle set_;
  hsize_t count_ = 0;
};

/// HDF5 does not survive a write that fails: closing what could not be flushed leaves the library in a state
/// in which its own clean-up at the program's end follows dangling pointers. So that clean-up is turned off,
/// a file that failed is abandoned as it is, its identifiers unclosed, and no other is made by this process.
class Hdf5File final : public SpectraFile {
 public:
  explicit Hdf5File(detail::OutputFile& output) : output_(output) {
    static const herr_t no_clean_up_at_exit = H5dont_atexit();  // before any other call
    static_cast<void>(no_clean_up_at_exit);
    if (output.kind() != detail::OutputKind::file)
      throw Error(ErrorCode::file_unreadable,
                  fmt::format("cannot write '{}': spectra need a regular file, not a stream", output.path()));
    if (abandoned) fail("an earlier file");
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "creating");
#if H5_VERSION_GE(1, 10, 7)
    check(H5Pset_file_locking(access, false, true), "creating");  // the output is locked already
#endif
    file_.emplace(H5Fcreate(output.temporary_path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose,
                  "creating");
  }

  void write(std::int64_t, const Spectrum<float>& spectrum) override {
    if (!spectra_) {
      k_ = spectrum.values.size();
      spectra_.emplace(*file_, "spectra", complex_type(), k_);
      errors_.emplace(*file_, "error", H5T_NATIVE_DOUBLE, 2);
      ids_.emplace(*file_, "template_id", H5T_NATIVE_INT64, 1);
    }
    if (spectrum.support.get() != support_) {
      if (spectrum.values.size() != k_) {
        throw Error(ErrorCode::file_unreadable,
                    "the number of frequencies changed while relearning: use --k with --spectra");
      }
      support_ = spectrum.support.get();
      write_support(*spectrum.support);
    }
    spectra_->append(spectrum.values.data());
    const double errors[2] = {spectrum.error_l2, spectrum.relative_error};
    errors_->append(errors);
    const std::int64_t id = templates_ - 1;
    ids_->append(&id);
  }

  void commit(const SourceInfo& input) override {
    finish(input);
    output_.commit();
  }

 private:
  void finish(const SourceInfo& input) {
    const std::int64_t shape[2] = {input.height, input.width};
    const hsize_t two = 2;
    {
      Handle space(H5Screate_simple(1, &two, nullptr), H5Sclose, "shape");
      Handle attribute(H5Acreate2(*file_, "shape", H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT),
                       H5Aclose, "shape");
      check(H5Awrite(attribute, H5T_NATIVE_INT64, shape), "shape");
      attribute.close("shape");
    }
    for (auto* rows : {&spectra_, &errors_, &ids_}) {
      if (*rows) (*rows)->close();
      rows->reset();
    }
    check(H5Fflush(*file_, H5F_SCOPE_GLOBAL), "flushing");
    file_->close("closing");
    file_.reset();
  }

  void write_support(const std::vector<std::int64_t>& support) {
    const std::string name = templates_ == 0 ? "support" : fmt::format("support_{}", templates_);
    const hsize_t size = support.size();
    const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, "support");
    Handle set(
        H5Dcreate2(*file_, name.c_str(), H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        H5Dclose, "support");
    check(H5Dwrite(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, support.data()), "support");
    set.close("support");
    ++templates_;
  }

  detail::OutputFile& output_;
  std::optional<Handle> file_;
  std::optional<Rows> spectra_, errors_, ids_;
  const void* support_ = nullptr;
  std::size_t k_ = 0;
  std::int64_t templates_ = 0;
};

}  // namespace

std::unique_ptr<SpectraFile> open_spectra_file(detail::OutputFile& output) {
  return std::make_unique<Hdf5File>(output);
}

}  // namespace sfft::video

#else

namespace sfft::video {

bool has_hdf5() noexcept {
  return false;
}

std::unique_ptr<SpectraFile> open_spectra_file(detail::OutputFile&) {
  throw Error(ErrorCode::backend_unavailable,
              "--spectra needs HDF5, which this build lacks: install libhdf5-dev and build again");
}

}  // namespace sfft::video

#endif
