// SPDX-License-Identifier: Apache-2.0
// The three kernels in OpenCL C. FFT_THREADS and FFT_TILE are the sizes.
typedef struct {
  uint threads, groups_x, bits, block_bits, stage, dist, columns, rows;
  float sign, scale;
} Parameters;

__kernel __attribute__((reqd_work_group_size(FFT_THREADS, 1, 1))) void fft_stage(__global const float2* source, __global float2* target,
                                                                                 Parameters p) {
  uint thread = get_global_id(0);
  if (thread >= p.threads) return;
  uint low = fft_low(thread, p.dist);
  uint high = low + p.dist;
  float2 a = source[low];
  float2 b = source[high];
  float2 w = fft_stage_twiddle(thread, p.dist, p.stage, p.bits, p.sign);
  target[low] = fft_add(a, b);
  target[high] = fft_rotated_difference(a, b, w);
}

__kernel __attribute__((reqd_work_group_size(FFT_THREADS, 1, 1))) void fft_parts(__global const float2* source, __global float2* target,
                                                                                 Parameters p) {
  __local float2 values[2 * FFT_THREADS];
  uint half_bits = p.block_bits - 1u;
  uint half_points = 1u << half_bits;
  uint thread = get_global_id(0);
  bool busy = thread < p.threads;
  uint butterfly = thread & (half_points - 1u);
  uint low = ((get_local_id(0) >> half_bits) << p.block_bits) + butterfly;
  uint high = low + half_points;
  uint pair = low + butterfly;
  uint first = (fft_part(thread >> half_bits, p.bits, p.block_bits) << p.block_bits) + butterfly;
  if (busy) {
    values[low] = source[first];
    values[high] = source[first + half_points];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stage = 0u; stage < p.block_bits; ++stage) {
    float2 a = values[low];
    float2 b = values[high];
    float2 w = fft_local_twiddle(butterfly, stage, p.block_bits, p.sign);
    barrier(CLK_LOCAL_MEM_FENCE);
    values[pair] = fft_add(a, b);
    values[pair + 1u] = fft_rotated_difference(a, b, w);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (!busy) return;
  target[fft_output(first, p.bits)] = fft_scaled(values[low], p.scale);
  target[fft_output(first + half_points, p.bits)] = fft_scaled(values[high], p.scale);
}

// A row is one element longer, so that the elements of a column lie in different banks.
__kernel __attribute__((reqd_work_group_size(FFT_THREADS, 1, 1))) void fft_transpose(__global const float2* source,
                                                                                     __global float2* target, Parameters p) {
  __local float2 tile[FFT_TILE * (FFT_TILE + 1)];
  uint tiles_x = (p.columns + FFT_TILE - 1u) / FFT_TILE;
  uint x0 = (get_group_id(0) % tiles_x) * FFT_TILE;
  uint y0 = (get_group_id(0) / tiles_x) * FFT_TILE;
  for (uint i = get_local_id(0); i < FFT_TILE * FFT_TILE; i += FFT_THREADS) {
    uint x = i % FFT_TILE;
    uint y = i / FFT_TILE;
    if (x0 + x < p.columns && y0 + y < p.rows) tile[y * (FFT_TILE + 1) + x] = source[(y0 + y) * p.columns + x0 + x];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < FFT_TILE * FFT_TILE; i += FFT_THREADS) {
    uint x = i / FFT_TILE;
    uint y = i % FFT_TILE;
    if (x0 + x < p.columns && y0 + y < p.rows) target[(x0 + x) * p.rows + y0 + y] = tile[y * (FFT_TILE + 1) + x];
  }
}
