// SPDX-License-Identifier: Apache-2.0
// Shapes, element types, views of samples: the vocabulary of the whole API.
#pragma once

#include "kernels/base/types.hpp"  // IWYU pragma: export
