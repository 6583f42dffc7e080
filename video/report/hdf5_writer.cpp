// SPDX-License-Identifier: Apache-2.0
// Writes through thin RAII over the HDF5 C interface. Three extendible data sets grow by a row per frame,
// each support is another data set, and the frame's shape is an attribute.
#include "video/report/hdf5_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "video/report/hdf5_handle.hpp"

namespace sfft::video {

namespace {

using Handle = Hdf5Handle;

void check(herr_t status, const char* what) {
  check_hdf5(status, what);
}

/// The compound type that h5py reads as complex64.
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
    const hsize_t max[2] = {H5S_UNLIMITED, columns};
    const Handle space(H5Screate_simple(2, none, max), H5Sclose, name);
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

}  // namespace

struct Hdf5Writer::Impl {
  std::optional<Handle> file;
  std::optional<Rows> spectra, errors, ids;
  std::int64_t templates = 0;

  explicit Impl(const std::string& path) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "creating");
#if H5_VERSION_GE(1, 10, 7)
    check(H5Pset_file_locking(access, false, true), "creating");  // the file is already locked
#endif
    file.emplace(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose, "creating");
  }
};

Hdf5Writer::Hdf5Writer(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
Hdf5Writer::~Hdf5Writer() = default;

void Hdf5Writer::add_support(std::span<const std::int64_t> support) {
  const std::string name = impl_->templates == 0 ? "support" : fmt::format("support_{}", impl_->templates);
  const hsize_t size = support.size();
  const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, "support");
  Handle set(
      H5Dcreate2(*impl_->file, name.c_str(), H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose, "support");
  check(H5Dwrite(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, support.data()), "support");
  set.close("support");
  ++impl_->templates;
}

void Hdf5Writer::add_row(std::span<const std::complex<float>> values, double error_l2,
                         double relative_error) {
  if (!impl_->spectra) {
    impl_->spectra.emplace(*impl_->file, "spectra", complex_type(), values.size());
    impl_->errors.emplace(*impl_->file, "error", H5T_NATIVE_DOUBLE, 2);
    impl_->ids.emplace(*impl_->file, "template_id", H5T_NATIVE_INT64, 1);
  }
  impl_->spectra->append(values.data());
  const double errors[2] = {error_l2, relative_error};
  impl_->errors->append(errors);
  const std::int64_t id = impl_->templates - 1;
  impl_->ids->append(&id);
}

void Hdf5Writer::finish(std::int64_t height, std::int64_t width) {
  const std::int64_t shape[2] = {height, width};
  const hsize_t two = 2;
  {
    Handle space(H5Screate_simple(1, &two, nullptr), H5Sclose, "shape");
    Handle attribute(H5Acreate2(*impl_->file, "shape", H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT),
                     H5Aclose, "shape");
    check(H5Awrite(attribute, H5T_NATIVE_INT64, shape), "shape");
    attribute.close("shape");
  }
  for (auto* rows : {&impl_->spectra, &impl_->errors, &impl_->ids}) {
    if (*rows) (*rows)->close();
    rows->reset();
  }
  check(H5Fflush(*impl_->file, H5F_SCOPE_GLOBAL), "flushing");
  impl_->file->close("closing");
  impl_->file.reset();
}

}  // namespace sfft::video
