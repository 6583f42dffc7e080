// SPDX-License-Identifier: Apache-2.0
// Looks for the module next to the program's libraries. It stays loaded, because its sources remain in use.
#include "video/sources/opencv_module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace sfft::video {

namespace {

const OpencvReaders& readers(const std::string& input) {
  static const OpencvReaders* const found = []() -> const OpencvReaders* {
    void* const module = ::dlopen(SFFT_OPENCV_MODULE, RTLD_NOW | RTLD_LOCAL);
    return module == nullptr ? nullptr
                             : static_cast<const OpencvReaders*>(::dlsym(module, "sfft_opencv_readers"));
  }();
  if (found == nullptr) {
    const char* const why = ::dlerror();
    throw InputError(fmt::format("'{}' needs the module {}, which cannot be loaded: {}", input,
                                 SFFT_OPENCV_MODULE, why != nullptr ? why : "it is not what it should be"));
  }
  return *found;
}

}  // namespace

std::unique_ptr<FrameSource> open_images(const std::string& pattern_or_directory) {
  return readers(pattern_or_directory).images(pattern_or_directory);
}

std::unique_ptr<FrameSource> open_camera(int index, const SourceOptions& options) {
  return readers(fmt::format("camera {}", index)).camera(index, options);
}

std::unique_ptr<FrameSource> open_with_opencv(const std::string& path_or_url, const SourceOptions& options) {
  return readers(path_or_url).recording(path_or_url, options);
}

}  // namespace sfft::video
