// SPDX-License-Identifier: Apache-2.0
// Writes through thin RAII over the HDF5 C interface. Three extendible data sets grow by a row per frame,
// each support is another data set, and the frame's shape is an attribute. An array is a data set.
#include "video/report/hdf5_file.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <optional>

#include "sfft/error.hpp"

namespace sfft::video {

namespace {

[[noreturn]] void fail(const char* what) {
  throw Error(ErrorCode::file_unreadable,
              fmt::format("cannot write the HDF5 file: {} failed: is the disk full?", what));
}

void check(herr_t status, const char* what) {
  if (status < 0) fail(what);
}

/// An HDF5 identifier that closes itself.
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
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const noexcept { return id_; }  // NOLINT

  /// Closes the object, which flushes what HDF5 has buffered.
  void close(const char* what) {
    const hid_t id = id_;
    id_ = -1;
    check(close_(id), what);
  }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

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

/// The type of an array's elements in memory and in the file.
Handle type_of(const NamedArray& array) {
  if (std::holds_alternative<std::span<const float>>(array.values))
    return {H5Tcopy(H5T_NATIVE_FLOAT), H5Tclose, "a type"};
  if (std::holds_alternative<std::span<const double>>(array.values))
    return {H5Tcopy(H5T_NATIVE_DOUBLE), H5Tclose, "a type"};
  Handle type(H5Tcreate(H5T_COMPOUND, sizeof(std::complex<double>)), H5Tclose, "a type");
  check(H5Tinsert(type, "r", 0, H5T_NATIVE_DOUBLE), "a type");
  check(H5Tinsert(type, "i", sizeof(double), H5T_NATIVE_DOUBLE), "a type");
  return type;
}

void write_unit(hid_t set, const std::string& unit) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "a unit");
  check(H5Tset_size(type, unit.size()), "a unit");
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose, "a unit");
  Handle attribute(H5Acreate2(set, "unit", type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, "a unit");
  check(H5Awrite(attribute, type, unit.data()), "a unit");
  attribute.close("a unit");
}

void write_array(hid_t file, const NamedArray& array) {
  const std::vector<hsize_t> shape(array.shape.begin(), array.shape.end());
  const Handle type = type_of(array);
  const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose,
                     "a data space");
  const Handle groups(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "a group");
  check(H5Pset_create_intermediate_group(groups, 1), "a group");
  Handle set(H5Dcreate2(file, array.name.c_str(), type, space, groups, H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
             "an array");
  const void* const data =
      std::visit([](const auto& values) { return static_cast<const void*>(values.data()); }, array.values);
  check(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), "writing");
  if (!array.unit.empty()) write_unit(set, array.unit);
  set.close("writing");
}

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

void Hdf5Writer::add_array(const NamedArray& array) {
  write_array(*impl_->file, array);
}

void Hdf5Writer::set_shape(std::int64_t height, std::int64_t width) {
  const std::int64_t shape[2] = {height, width};
  const hsize_t two = 2;
  const Handle space(H5Screate_simple(1, &two, nullptr), H5Sclose, "shape");
  Handle attribute(H5Acreate2(*impl_->file, "shape", H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT),
                   H5Aclose, "shape");
  check(H5Awrite(attribute, H5T_NATIVE_INT64, shape), "shape");
  attribute.close("shape");
}

void Hdf5Writer::finish() {
  for (auto* rows : {&impl_->spectra, &impl_->errors, &impl_->ids}) {
    if (*rows) (*rows)->close();
    rows->reset();
  }
  check(H5Fflush(*impl_->file, H5F_SCOPE_GLOBAL), "flushing");
  impl_->file->close("closing");
  impl_->file.reset();
}

}  // namespace sfft::video
