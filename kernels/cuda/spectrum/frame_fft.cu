// SPDX-License-Identifier: Apache-2.0
// Rows are converted while they are loaded; pairs of real rows are separated while they are stored. Columns
// are transformed in place: every block writes only what it has read.
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/small_fft/block_fft.cuh"
#include "kernels/cuda/spectrum/excluded.cuh"
#include "kernels/cuda/spectrum/frame_fft.hpp"
#include "kernels/cuda/spectrum/keep.cuh"
#include "kernels/cuda/spectrum/spectrum_power.hpp"

namespace sfft::detail::cuda {

namespace {

constexpr int kMaxThreads = 256;
constexpr int kMaxSteps = 3;

struct TableArguments {
  FftSchedule fft[kMaxSteps];
  int begin[kMaxSteps];
  int steps, entries;
  Complex<double>* table;
};
static_assert(sizeof(TableArguments) <= 4096, "kernel parameters");

/// exp(−2πi turns/order). The angle is first reduced to an eighth of a turn in integers.
__device__ Complex<double> conjugate_root(const TableRoot& root) {
  const int eighths = 8 * root.turns;
  const int octant = eighths / root.order;
  const int rest = eighths - octant * root.order;
  const bool mirrored = octant % 2 != 0;
  const double fraction = static_cast<double>(mirrored ? root.order - rest : rest) / root.order;
  double s, c;
  sincospi(0.25 * fraction, &s, &c);
  if (mirrored) {
    const double t = c;
    c = s;
    s = t;
  }
  switch (octant / 2) {
    case 1:
      return {-s, -c};
    case 2:
      return {-c, s};
    case 3:
      return {s, c};
    default:
      return {c, -s};
  }
}

__global__ void table_kernel(const __grid_constant__ TableArguments a) {
  for (int entry = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); entry < a.entries;
       entry += static_cast<int>(gridDim.x * blockDim.x)) {
    int step = a.steps - 1;
    while (step > 0 && entry < a.begin[step]) --step;
    a.table[entry] = conjugate_root(table_root(a.fft[step], entry - a.begin[step]));
  }
}

struct RowArguments {
  FftSchedule fft;
  const Complex<double>* table;
  const void* samples;
  Element type;
  bool half;
  double scale;
  Complex<double>* spectrum;
  std::int64_t rows, lanes;
  int lanes_per_block, pitch, buffer1, row_points;
  FastDivisor by_points, by_row_points;
};

/// Calls work(lane, i, offset in the buffer) for each point of the block's lanes; neighbouring threads take
/// neighbouring points.
template <class Work>
__device__ __forceinline__ void for_points(const RowArguments& a, int lanes, const Work& work) {
  const int points = a.fft.points;
  for (int t = static_cast<int>(threadIdx.x); t < lanes * points; t += static_cast<int>(blockDim.x)) {
    const int lane = static_cast<int>(a.by_points.divide(static_cast<std::uint32_t>(t)));
    const int i = t - lane * points;
    work(lane, i, lane * a.pitch + padded<double>(i));
  }
}

template <class T>
__device__ __forceinline__ void load_real(const RowArguments& a, std::int64_t first_lane, int lanes) {
  const T* samples = static_cast<const T*>(a.samples);
  auto* buffer = shared_at<Complex<double>>(0);
  for_points(a, lanes, [&](int lane, int i, int at) {
    const std::int64_t row = 2 * (first_lane + lane);
    const std::int64_t sample = row * a.fft.points + i;
    const bool second = row + 1 < a.rows;
    buffer[at] = {static_cast<double>(samples[sample]),
                  second ? static_cast<double>(samples[sample + a.fft.points]) : 0.0};
  });
}

template <class Real>
__device__ __forceinline__ void load_complex(const RowArguments& a, std::int64_t first_lane, int lanes) {
  const auto* samples = static_cast<const Complex<Real>*>(a.samples);
  auto* buffer = shared_at<Complex<double>>(0);
  for_points(a, lanes, [&](int lane, int i, int at) {
    const Complex<Real> z = samples[(first_lane + lane) * a.fft.points + i];
    buffer[at] = {static_cast<double>(z.re), static_cast<double>(z.im)};
  });
}

__global__ void __launch_bounds__(kMaxThreads) row_kernel(const __grid_constant__ RowArguments a) {
  const std::int64_t first_lane = static_cast<std::int64_t>(blockIdx.x) * a.lanes_per_block;
  const std::int64_t left = a.lanes - first_lane;
  const int lanes = left < a.lanes_per_block ? static_cast<int>(left) : a.lanes_per_block;
  switch (a.type) {
    case Element::u8:
      load_real<std::uint8_t>(a, first_lane, lanes);
      break;
    case Element::u16:
      load_real<std::uint16_t>(a, first_lane, lanes);
      break;
    case Element::f32:
      load_real<float>(a, first_lane, lanes);
      break;
    case Element::f64:
      load_real<double>(a, first_lane, lanes);
      break;
    case Element::c64:
      load_complex<float>(a, first_lane, lanes);
      break;
    case Element::c128:
      load_complex<double>(a, first_lane, lanes);
      break;
  }
  later_passes<double>(a.fft.pass, a.fft.passes, a.fft.points, a.table, 0, a.buffer1, lanes, a.pitch);
  const Complex<double>* result = shared_at<Complex<double>>(a.fft.passes % 2 == 1 ? 0 : a.buffer1);
  if (!a.half) {
    for_points(a, lanes, [&](int lane, int i, int at) {
      const Complex<double> z = result[at];
      a.spectrum[(first_lane + lane) * a.fft.points + i] = {a.scale * z.re, a.scale * z.im};
    });
    return;
  }
  // z = x + iy of real x and y: X[f] = (Z[f] + conj Z[−f])/2 and Y[f] = (Z[f] − conj Z[−f])/2i.
  const double scale = 0.5 * a.scale;
  for (int t = static_cast<int>(threadIdx.x); t < lanes * a.row_points; t += static_cast<int>(blockDim.x)) {
    const int lane = static_cast<int>(a.by_row_points.divide(static_cast<std::uint32_t>(t)));
    const int f = t - lane * a.row_points;
    const Complex<double>* z = result + lane * a.pitch;
    const Complex<double> p = z[padded<double>(f)];
    const Complex<double> q = z[padded<double>(f == 0 ? 0 : a.fft.points - f)];
    const std::int64_t row = 2 * (first_lane + lane);
    Complex<double>* out = a.spectrum + row * a.row_points + f;
    out[0] = {scale * (p.re + q.re), scale * (p.im - q.im)};
    if (row + 1 < a.rows) out[a.row_points] = {scale * (p.im + q.im), scale * (q.re - p.re)};
  }
}

struct ColumnArguments {
  FftSchedule fft;
  const Complex<double>* table;
  Complex<double>* spectrum;
  double* power;
  SpectrumExtents extents;
  std::int64_t inner, blocks_per_outer;
  int lanes_per_block, pitch, buffer1;
  FastDivisor by_lanes, by_row_points;
};

__global__ void __launch_bounds__(kMaxThreads) column_kernel(const __grid_constant__ ColumnArguments a) {
  const std::int64_t outer = blockIdx.x / a.blocks_per_outer;
  const std::int64_t first = (blockIdx.x - outer * a.blocks_per_outer) * a.lanes_per_block;
  const std::int64_t left = a.inner - first;
  const int lanes = left < a.lanes_per_block ? static_cast<int>(left) : a.lanes_per_block;
  const int points = a.fft.points;
  const std::int64_t begin = outer * points * a.inner + first;
  const int all = points * a.lanes_per_block;
  auto* buffer = shared_at<Complex<double>>(0);
  for (int t = static_cast<int>(threadIdx.x); t < all; t += static_cast<int>(blockDim.x)) {
    const int i = static_cast<int>(a.by_lanes.divide(static_cast<std::uint32_t>(t)));
    const int lane = t - i * a.lanes_per_block;
    if (lane < lanes) buffer[lane * a.pitch + padded<double>(i)] = a.spectrum[begin + i * a.inner + lane];
  }
  later_passes<double>(a.fft.pass, a.fft.passes, points, a.table, 0, a.buffer1, lanes, a.pitch);
  const Complex<double>* result = shared_at<Complex<double>>(a.fft.passes % 2 == 1 ? 0 : a.buffer1);
  for (int t = static_cast<int>(threadIdx.x); t < all; t += static_cast<int>(blockDim.x)) {
    const int i = static_cast<int>(a.by_lanes.divide(static_cast<std::uint32_t>(t)));
    const int lane = t - i * a.lanes_per_block;
    if (lane >= lanes) continue;
    const Complex<double> z = result[lane * a.pitch + padded<double>(i)];
    const std::int64_t element = begin + i * a.inner + lane;
    a.spectrum[element] = z;
    if (a.power == nullptr) continue;
    const std::int64_t row = a.by_row_points.divide(static_cast<std::uint32_t>(element));
    const std::int64_t column = element - row * a.extents.row_points();
    a.power[element] = conjugate_excluded(a.extents, row, column) ? kExcluded : device::power_of(z.re, z.im);
  }
}

/// Lets kernels use all shared memory of a block: a smaller limit, set for one launch, might still be in
/// force when another thread launches.
template <class Arguments>
void launch_lines(void (*kernel)(Arguments), const FrameFftStep& step, std::size_t shared_limit,
                  const Arguments& arguments, Stream stream, const char* what) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shared_limit)),
        "reserving shared memory for the FFT of a frame");
  LaunchShape shape;
  shape.blocks = step.blocks;
  shape.threads = step.threads;
  shape.shared_bytes = static_cast<std::size_t>(step.shared_bytes);
  launch(kernel, shape, arguments, stream, what);
}

int second_buffer(const FrameFftStep& step) {
  return static_cast<int>(step.fft.passes > 1 ? step.shared_bytes / 2 : 0);
}

}  // namespace

void launch_frame_tables(const std::vector<FrameFftStep>& steps, Complex<double>* table, int entries,
                         Stream stream) {
  TableArguments arguments{};
  for (const FrameFftStep& step : steps) {
    arguments.fft[arguments.steps] = step.fft;
    arguments.begin[arguments.steps++] = step.table;
  }
  arguments.entries = entries;
  arguments.table = table;
  LaunchShape shape;
  shape.blocks = strided_blocks(entries);
  shape.threads = kThreads;
  launch(table_kernel, shape, arguments, stream, "computing the twiddles of a frame's FFT");
}

void launch_frame_rows(const FrameFftStep& step, const Complex<double>* table, std::size_t shared_limit,
                       const FrameSamples& samples, Complex<double>* spectrum, Stream stream) {
  const int row_points = samples.half ? step.fft.points / 2 + 1 : step.fft.points;
  const RowArguments arguments{step.fft,
                               table,
                               samples.data,
                               samples.type,
                               samples.half,
                               samples.scale,
                               spectrum,
                               step.outer,
                               step.lanes,
                               step.lanes_per_block,
                               step.pitch,
                               second_buffer(step),
                               row_points,
                               FastDivisor(static_cast<std::uint32_t>(step.fft.points)),
                               FastDivisor(static_cast<std::uint32_t>(row_points))};
  launch_lines(row_kernel, step, shared_limit, arguments, stream, "transforming the rows of a frame");
}

void launch_frame_columns(const FrameFftStep& step, const Complex<double>* table, std::size_t shared_limit,
                          const SpectrumExtents& extents, Complex<double>* spectrum, double* power,
                          Stream stream) {
  const ColumnArguments arguments{step.fft,
                                  table,
                                  spectrum,
                                  power,
                                  extents,
                                  step.inner,
                                  (step.inner + step.lanes_per_block - 1) / step.lanes_per_block,
                                  step.lanes_per_block,
                                  step.pitch,
                                  second_buffer(step),
                                  FastDivisor(static_cast<std::uint32_t>(step.lanes_per_block)),
                                  FastDivisor(static_cast<std::uint32_t>(extents.row_points()))};
  launch_lines(column_kernel, step, shared_limit, arguments, stream, "transforming the columns of a frame");
}

}  // namespace sfft::detail::cuda
