// SPDX-License-Identifier: Apache-2.0
// SFFT_EXPORT marks what the shared library exports.
#pragma once

#include "kernels/base/export.hpp"  // IWYU pragma: export
