// SPDX-License-Identifier: Apache-2.0
// Says which standard containers the library was built with.
#include "sfft/export.hpp"

#if defined(__GLIBCXX__)
namespace sfft::detail {

#if defined(_GLIBCXX_DEBUG)
void sfft_must_be_built_with_GLIBCXX_DEBUG_because_this_program_is() noexcept {}
#else
void sfft_must_be_built_without_GLIBCXX_DEBUG_because_this_program_is() noexcept {}
#endif

#if _GLIBCXX_USE_CXX11_ABI
void sfft_must_be_built_with_GLIBCXX_USE_CXX11_ABI_1_because_this_program_is() noexcept {}
#else
void sfft_must_be_built_with_GLIBCXX_USE_CXX11_ABI_0_because_this_program_is() noexcept {}
#endif

}  // namespace sfft::detail
#endif
