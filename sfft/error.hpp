// SPDX-License-Identifier: Apache-2.0
// What the library throws.
#pragma once

#include "kernels/base/error.hpp"  // IWYU pragma: export
