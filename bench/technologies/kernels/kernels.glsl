// SPDX-License-Identifier: Apache-2.0
// The three kernels in GLSL, for OpenGL and for Vulkan (FFT_VULKAN). FFT_KERNEL selects one: 0 a stage, 1 the
// remaining stages, 2 the transposition. FFT_THREADS and FFT_TILE are the sizes.
layout(local_size_x = FFT_THREADS) in;

layout(std430, binding = 0) readonly buffer Source { vec2 data[]; } source;
layout(std430, binding = 1) buffer Target { vec2 data[]; } target;
#ifdef FFT_VULKAN
layout(push_constant) uniform Parameters
#else
layout(std140, binding = 2) uniform Parameters
#endif
{
  uint threads, groups_x, bits, block_bits, stage, dist, columns, rows;
  float sign, scale;
} p;

uint group() { return gl_WorkGroupID.x + gl_WorkGroupID.y * p.groups_x; }

#if FFT_KERNEL == 0
void main() {
  uint thread = group() * uint(FFT_THREADS) + gl_LocalInvocationID.x;
  if (thread >= p.threads) return;
  uint low = fft_low(thread, p.dist);
  uint high = low + p.dist;
  vec2 a = source.data[low];
  vec2 b = source.data[high];
  vec2 w = fft_stage_twiddle(thread, p.dist, p.stage, p.bits, p.sign);
  target.data[low] = fft_add(a, b);
  target.data[high] = fft_rotated_difference(a, b, w);
}
#elif FFT_KERNEL == 1
shared vec2 values[2 * FFT_THREADS];

void main() {
  uint half_bits = p.block_bits - 1u;
  uint half_points = 1u << half_bits;
  uint thread = group() * uint(FFT_THREADS) + gl_LocalInvocationID.x;
  bool busy = thread < p.threads;
  uint butterfly = thread & (half_points - 1u);
  uint low = ((gl_LocalInvocationID.x >> half_bits) << p.block_bits) + butterfly;
  uint high = low + half_points;
  uint pair = low + butterfly;
  uint first = (fft_part(thread >> half_bits, p.bits, p.block_bits) << p.block_bits) + butterfly;
  if (busy) {
    values[low] = source.data[first];
    values[high] = source.data[first + half_points];
  }
  memoryBarrierShared();
  barrier();
  for (uint stage = 0u; stage < p.block_bits; ++stage) {
    vec2 a = values[low];
    vec2 b = values[high];
    vec2 w = fft_local_twiddle(butterfly, stage, p.block_bits, p.sign);
    memoryBarrierShared();
    barrier();
    values[pair] = fft_add(a, b);
    values[pair + 1u] = fft_rotated_difference(a, b, w);
    memoryBarrierShared();
    barrier();
  }
  if (!busy) return;
  target.data[fft_output(first, p.bits)] = fft_scaled(values[low], p.scale);
  target.data[fft_output(first + half_points, p.bits)] = fft_scaled(values[high], p.scale);
}
#else
// A row is one element longer, so that the elements of a column lie in different banks.
shared vec2 tile[FFT_TILE * (FFT_TILE + 1)];

void main() {
  uint tiles_x = (p.columns + uint(FFT_TILE) - 1u) / uint(FFT_TILE);
  uint x0 = (group() % tiles_x) * uint(FFT_TILE);
  uint y0 = (group() / tiles_x) * uint(FFT_TILE);
  for (uint i = gl_LocalInvocationID.x; i < uint(FFT_TILE * FFT_TILE); i += uint(FFT_THREADS)) {
    uint x = i % uint(FFT_TILE);
    uint y = i / uint(FFT_TILE);
    if (x0 + x < p.columns && y0 + y < p.rows) tile[y * uint(FFT_TILE + 1) + x] = source.data[(y0 + y) * p.columns + x0 + x];
  }
  memoryBarrierShared();
  barrier();
  for (uint i = gl_LocalInvocationID.x; i < uint(FFT_TILE * FFT_TILE); i += uint(FFT_THREADS)) {
    uint x = i / uint(FFT_TILE);
    uint y = i % uint(FFT_TILE);
    if (x0 + x < p.columns && y0 + y < p.rows) target.data[(x0 + x) * p.rows + y0 + y] = tile[y * uint(FFT_TILE + 1) + x];
  }
}
#endif
