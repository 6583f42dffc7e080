// SPDX-License-Identifier: Apache-2.0
// The three kernels in HLSL, compiled to SPIR-V for Vulkan. FFT_KERNEL selects one: 0 a stage, 1 the remaining
// stages, 2 the transposition. FFT_THREADS and FFT_TILE are the sizes.
[[vk::binding(0)]] RWStructuredBuffer<float2> source : register(u0);
[[vk::binding(1)]] RWStructuredBuffer<float2> target : register(u1);
struct Parameters {
  uint threads, groups_x, bits, block_bits, stage, dist, columns, rows;
  float sign, scale;
};
[[vk::push_constant]] ConstantBuffer<Parameters> p;

#if FFT_KERNEL == 0
[numthreads(FFT_THREADS, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint lane : SV_GroupIndex) {
  uint thread = (group_id.x + group_id.y * p.groups_x) * FFT_THREADS + lane;
  if (thread >= p.threads) return;
  uint low = fft_low(thread, p.dist);
  uint high = low + p.dist;
  float2 a = source[low];
  float2 b = source[high];
  float2 w = fft_stage_twiddle(thread, p.dist, p.stage, p.bits, p.sign);
  target[low] = fft_add(a, b);
  target[high] = fft_rotated_difference(a, b, w);
}
#elif FFT_KERNEL == 1
groupshared float2 values[2 * FFT_THREADS];

[numthreads(FFT_THREADS, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint lane : SV_GroupIndex) {
  uint half_bits = p.block_bits - 1u;
  uint half_points = 1u << half_bits;
  uint thread = (group_id.x + group_id.y * p.groups_x) * FFT_THREADS + lane;
  bool busy = thread < p.threads;
  uint butterfly = thread & (half_points - 1u);
  uint low = ((lane >> half_bits) << p.block_bits) + butterfly;
  uint high = low + half_points;
  uint pair = low + butterfly;
  uint first = (fft_part(thread >> half_bits, p.bits, p.block_bits) << p.block_bits) + butterfly;
  if (busy) {
    values[low] = source[first];
    values[high] = source[first + half_points];
  }
  GroupMemoryBarrierWithGroupSync();
  for (uint stage = 0u; stage < p.block_bits; ++stage) {
    float2 a = values[low];
    float2 b = values[high];
    float2 w = fft_local_twiddle(butterfly, stage, p.block_bits, p.sign);
    GroupMemoryBarrierWithGroupSync();
    values[pair] = fft_add(a, b);
    values[pair + 1u] = fft_rotated_difference(a, b, w);
    GroupMemoryBarrierWithGroupSync();
  }
  if (!busy) return;
  target[fft_output(first, p.bits)] = fft_scaled(values[low], p.scale);
  target[fft_output(first + half_points, p.bits)] = fft_scaled(values[high], p.scale);
}
#else
// A row is one element longer, so that the elements of a column lie in different banks.
groupshared float2 tile[FFT_TILE * (FFT_TILE + 1)];

[numthreads(FFT_THREADS, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint lane : SV_GroupIndex) {
  uint group = group_id.x + group_id.y * p.groups_x;
  uint tiles_x = (p.columns + FFT_TILE - 1u) / FFT_TILE;
  uint x0 = (group % tiles_x) * FFT_TILE;
  uint y0 = (group / tiles_x) * FFT_TILE;
  for (uint i = lane; i < FFT_TILE * FFT_TILE; i += FFT_THREADS) {
    uint x = i % FFT_TILE;
    uint y = i / FFT_TILE;
    if (x0 + x < p.columns && y0 + y < p.rows) tile[y * (FFT_TILE + 1) + x] = source[(y0 + y) * p.columns + x0 + x];
  }
  GroupMemoryBarrierWithGroupSync();
  for (uint j = lane; j < FFT_TILE * FFT_TILE; j += FFT_THREADS) {
    uint x = j / FFT_TILE;
    uint y = j % FFT_TILE;
    if (x0 + x < p.columns && y0 + y < p.rows) target[(x0 + x) * p.rows + y0 + y] = tile[y * (FFT_TILE + 1) + x];
  }
}
#endif
