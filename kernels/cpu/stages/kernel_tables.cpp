// SPDX-License-Identifier: Apache-2.0
// Chooses the instruction set of each stage's kernels.
#include "kernels/cpu/platform/isa.hpp"
#include "kernels/cpu/stages/bucket_power.hpp"
#include "kernels/cpu/stages/bucket_systems.hpp"
#include "kernels/cpu/stages/error_kernels.hpp"
#include "kernels/cpu/stages/flat_recover.hpp"
#include "kernels/cpu/stages/layout.hpp"
#include "kernels/cpu/stages/locate.hpp"
#include "kernels/cpu/stages/matrix_product.hpp"
#include "kernels/cpu/stages/permute.hpp"
#include "kernels/cpu/stages/recover.hpp"
#include "kernels/cpu/stages/row_combinations.hpp"
#include "kernels/cpu/stages/short_lines.hpp"
#include "kernels/cpu/stages/spectrum_scan.hpp"
#include "kernels/cpu/stages/stored.hpp"
#include "kernels/cpu/stages/subsample.hpp"
#include "kernels/cpu/stages/two_pass.hpp"
#include "kernels/cpu/stages/waves.hpp"

namespace sfft::detail::cpu {

#define SFFT_DECLARE(isa)                                                       \
  namespace isa {                                                               \
  const PermuteKernels<float>& permute_table_float() noexcept;                  \
  const PermuteKernels<double>& permute_table_double() noexcept;                \
  const RecoverKernels<float>& recover_table_float() noexcept;                  \
  const RecoverKernels<double>& recover_table_double() noexcept;                \
  const SubsampleKernels<float>& subsample_table_float() noexcept;              \
  const SubsampleKernels<double>& subsample_table_double() noexcept;            \
  const FlatRecoverKernels<float>& flat_recover_table_float() noexcept;         \
  const FlatRecoverKernels<double>& flat_recover_table_double() noexcept;       \
  const BucketPowerKernels<float>& bucket_power_table_float() noexcept;         \
  const BucketPowerKernels<double>& bucket_power_table_double() noexcept;       \
  const ErrorKernels<float>& error_table_float() noexcept;                      \
  const ErrorKernels<double>& error_table_double() noexcept;                    \
  const LocateKernels<float>& locate_table_float() noexcept;                    \
  const LocateKernels<double>& locate_table_double() noexcept;                  \
  const WaveKernels<float>& wave_table_float() noexcept;                        \
  const WaveKernels<double>& wave_table_double() noexcept;                      \
  const LayoutKernels<float>& layout_table_float() noexcept;                    \
  const LayoutKernels<double>& layout_table_double() noexcept;                  \
  const MatrixKernels<float>& matrix_table_float() noexcept;                    \
  const MatrixKernels<double>& matrix_table_double() noexcept;                  \
  const RowCombinationKernels<float>& row_combination_table_float() noexcept;   \
  const RowCombinationKernels<double>& row_combination_table_double() noexcept; \
  const ShortLineKernels<float>& short_line_table_float() noexcept;             \
  const ShortLineKernels<double>& short_line_table_double() noexcept;           \
  const BucketSystemKernels& bucket_system_table() noexcept;                    \
  const SpectrumScanKernels& spectrum_scan_table() noexcept;                    \
  const StoredKernels* stored_table() noexcept;                                 \
  const TwoPassKernels<float>& two_pass_table_float() noexcept;                 \
  const TwoPassKernels<double>& two_pass_table_double() noexcept;               \
  }
SFFT_FOR_EVERY_ISA(SFFT_DECLARE)
#undef SFFT_DECLARE

SFFT_DEFINE_KERNELS(ErrorKernels, error)
SFFT_DEFINE_KERNELS(PermuteKernels, permute)
SFFT_DEFINE_KERNELS(RecoverKernels, recover)
SFFT_DEFINE_KERNELS(SubsampleKernels, subsample)
SFFT_DEFINE_KERNELS(FlatRecoverKernels, flat_recover)
SFFT_DEFINE_KERNELS(BucketPowerKernels, bucket_power)
SFFT_DEFINE_KERNELS(LocateKernels, locate)
SFFT_DEFINE_KERNELS(WaveKernels, wave)
SFFT_DEFINE_KERNELS(LayoutKernels, layout)
SFFT_DEFINE_KERNELS(ShortLineKernels, short_line)
SFFT_DEFINE_KERNELS(MatrixKernels, matrix)
SFFT_DEFINE_KERNELS(RowCombinationKernels, row_combination)
SFFT_DEFINE_KERNELS(TwoPassKernels, two_pass)
const StoredKernels* stored_kernels() noexcept {
  SFFT_DISPATCH(stored_table())
}
const BucketSystemKernels& bucket_system_kernels() noexcept {
  SFFT_DISPATCH(bucket_system_table())
}

// Learning works in double precision only.
const SpectrumScanKernels& spectrum_scan_kernels() noexcept {
  SFFT_DISPATCH(spectrum_scan_table())
}

}  // namespace sfft::detail::cpu
