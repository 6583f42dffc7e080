// SPDX-License-Identifier: Apache-2.0
// Forks a process that has a copy of all arrays, writes them and reports the result through a pipe.
#include "video/report/arrays_file.hpp"

#include <fmt/format.h>

#include "sfft/error.hpp"

#if SFFT_HAVE_HDF5

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "video/report/hdf5_handle.hpp"

namespace sfft::video {

namespace {

/// The type of an array's elements in memory and in the file.
Hdf5Handle type_of(const NamedArray& array) {
  if (std::holds_alternative<std::span<const float>>(array.values))
    return {H5Tcopy(H5T_NATIVE_FLOAT), H5Tclose, "a type"};
  if (std::holds_alternative<std::span<const double>>(array.values))
    return {H5Tcopy(H5T_NATIVE_DOUBLE), H5Tclose, "a type"};
  Hdf5Handle type(H5Tcreate(H5T_COMPOUND, sizeof(std::complex<double>)), H5Tclose, "a type");
  check_hdf5(H5Tinsert(type, "r", 0, H5T_NATIVE_DOUBLE), "a type");
  check_hdf5(H5Tinsert(type, "i", sizeof(double), H5T_NATIVE_DOUBLE), "a type");
  return type;
}

void write_unit(hid_t set, const std::string& unit) {
  const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "a unit");
  check_hdf5(H5Tset_size(type, unit.size()), "a unit");
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose, "a unit");
  Hdf5Handle attribute(H5Acreate2(set, "unit", type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, "a unit");
  check_hdf5(H5Awrite(attribute, type, unit.data()), "a unit");
  attribute.close("a unit");
}

void write_array(hid_t file, const NamedArray& array) {
  const std::vector<hsize_t> shape(array.shape.begin(), array.shape.end());
  const Hdf5Handle type = type_of(array);
  const Hdf5Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose,
                         "a data space");
  const Hdf5Handle groups(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "a group");
  check_hdf5(H5Pset_create_intermediate_group(groups, 1), "a group");
  Hdf5Handle set(H5Dcreate2(file, array.name.c_str(), type, space, groups, H5P_DEFAULT, H5P_DEFAULT),
                 H5Dclose, "an array");
  const void* const data =
      std::visit([](const auto& values) { return static_cast<const void*>(values.data()); }, array.values);
  check_hdf5(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), "writing");
  if (!array.unit.empty()) write_unit(set, array.unit);
  set.close("writing");
}

void write_all(const std::string& path, std::span<const NamedArray> arrays) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "creating");
#if H5_VERSION_GE(1, 10, 7)
  check_hdf5(H5Pset_file_locking(access, false, true), "creating");  // the file is already locked
#endif
  Hdf5Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose, "creating");
  for (const NamedArray& array : arrays) write_array(file, array);
  check_hdf5(H5Fflush(file, H5F_SCOPE_GLOBAL), "flushing");
  file.close("closing");
}

/// Runs in the writing process, which exits here without clean-up.
[[noreturn]] void live(int answer, const std::string& path, std::span<const NamedArray> arrays) {
  std::string message = "+";
  try {
    write_all(path, arrays);
  } catch (const std::exception& error) {
    message = error.what();
  }
  const ssize_t told = ::write(answer, message.data(), message.size());
  std::_Exit(told > 0 ? 0 : 1);
}

[[noreturn]] void fail(const detail::OutputFile& output, const std::string& why) {
  throw Error(ErrorCode::file_unreadable, fmt::format("cannot write '{}': {}", output.path(), why));
}

}  // namespace

void check_arrays_output(const detail::OutputFile& output) {
  if (output.kind() != detail::OutputKind::file) fail(output, "HDF5 needs a regular file, not a stream");
}

void write_arrays(detail::OutputFile& output, std::span<const NamedArray> arrays) {
  check_arrays_output(output);
  const std::string path = output.temporary_path();
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) fail(output, std::strerror(errno));
  const pid_t process = ::fork();
  if (process == 0) live(ends[1], path, arrays);
  ::close(ends[1]);
  std::string answer;
  char buffer[512];
  while (process > 0) {
    const ssize_t got = ::read(ends[0], buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    answer.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  if (process < 0) fail(output, "no process can be started for it");
  while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (answer.empty()) fail(output, "the process that writes it crashed: is there enough memory and disk?");
  if (answer != "+") fail(output, answer);
  output.commit();
}

}  // namespace sfft::video

#else

namespace sfft::video {

void check_arrays_output(const detail::OutputFile&) {
  throw Error(ErrorCode::backend_unavailable,
              "--hdf5 needs HDF5, which this build lacks: install libhdf5-dev and build again");
}

void write_arrays(detail::OutputFile& output, std::span<const NamedArray>) {
  check_arrays_output(output);
}

}  // namespace sfft::video

#endif
