// SPDX-License-Identifier: Apache-2.0
// Loads libcufftMp.so with RTLD_DEEPBIND, so that it uses its own functions and not those of libcufft.so.
// NVSHMEM is loaded before it and without that flag: otherwise it would take parts of the C++ library that
// libcufftMp.so has for itself.
#include "sfft/mpi/cufftmp_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace sfft::mpi::detail {

namespace {

/// Loads NVSHMEM from where libcufftMp.so would: its own directory, as in the wheels, or the loader's path.
/// What fails here fails again, with a reason, when libcufftMp.so needs it.
void load_nvshmem(const std::string& cufftmp) {
  constexpr const char* kName = "libnvshmem_host.so.3";
  const std::filesystem::path folder = std::filesystem::path(cufftmp).parent_path();
  for (const char* const among : {".", "../../../nvshmem/lib"}) {
    if (folder.empty()) break;
    if (::dlopen((folder / among / kName).c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return;
  }
  static_cast<void>(::dlopen(kName, RTLD_NOW | RTLD_LOCAL));
}

CufftMp load() {
  CufftMp found{};
  const char* const given = std::getenv("SFFT_CUFFTMP");
  const std::vector<std::string> names =
      given != nullptr ? std::vector<std::string>{given}
                       : std::vector<std::string>{"libcufftMp.so.12", "libcufftMp.so.11"};
  void* library = nullptr;
  for (const std::string& name : names) {
    load_nvshmem(name);
    library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (library != nullptr) break;
    const char* const why = ::dlerror();
    if (found.problem.empty())
      found.problem = fmt::format(
          "cuFFTMp is not found ({}): install the wheel nvidia-cufftmp-cu13 or the HPC SDK, and "
          "name its libcufftMp.so in SFFT_CUFFTMP",
          why == nullptr ? name : why);
  }
  if (library == nullptr) return found;
  found.problem.clear();
  const auto get = [&](auto& function, const char* name) {
    void* const symbol = ::dlsym(library, name);
    if (symbol == nullptr) found.problem = fmt::format("libcufftMp.so has no function {}", name);
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
  };
  get(found.create, "cufftCreate");
  get(found.destroy, "cufftDestroy");
  get(found.attach, "cufftMpAttachComm");
  get(found.make_2d, "cufftMakePlan2d");
  get(found.make_3d, "cufftMakePlan3d");
  get(found.allocate, "cufftXtMalloc");
  get(found.release, "cufftXtFree");
  get(found.execute, "cufftXtExecDescriptor");
  return found;
}

}  // namespace

const CufftMp& cufftmp_library() {
  static const CufftMp library = load();
  return library;
}

}  // namespace sfft::mpi::detail
