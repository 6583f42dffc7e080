// SPDX-License-Identifier: Apache-2.0
// Shapes, element types, views of samples: the words that every function of the library speaks.
#pragma once

#include "kernels/base/types.hpp"  // IWYU pragma: export
