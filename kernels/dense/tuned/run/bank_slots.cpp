// SPDX-License-Identifier: Apache-2.0
// Assigns banks to points one by one, as an edge colouring. If the two groups of a point have no free bank in
// common, two banks are swapped along a path.
#include "kernels/dense/tuned/run/bank_slots.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/dense/tuned/plan/grid.hpp"
#include "kernels/dense/tuned/plan/shared_layout.hpp"

namespace sfft::detail::tuned {

namespace {

/// Colours the edges of a bipartite graph one by one.
class Colouring {
 public:
  Colouring(int edges, int nodes, int colours)
      : colours_(colours), ends_(static_cast<std::size_t>(edges)), colour_(ends_.size(), kNone) {
    for (auto& side : at_) side.assign(static_cast<std::size_t>(nodes * colours), kNone);
  }

  void add(int edge, int left, int right) {
    ends_[static_cast<std::size_t>(edge)] = {left, right};
    const int a = free_at(0, left), b = free_at(1, right);
    if (a != b) swap_from(right, a, b);
    set(edge, a);
  }
  int operator[](int edge) const { return colour_[static_cast<std::size_t>(edge)]; }

 private:
  static constexpr int kNone = -1;

  int& at(int side, int node, int colour) {
    return at_[static_cast<std::size_t>(side)][static_cast<std::size_t>(node * colours_ + colour)];
  }
  int end(int edge, int side) const {
    return ends_[static_cast<std::size_t>(edge)][static_cast<std::size_t>(side)];
  }
  int free_at(int side, int node) {
    int colour = 0;
    while (at(side, node, colour) != kNone) ++colour;
    return colour;
  }
  void set(int edge, int colour) {
    colour_[static_cast<std::size_t>(edge)] = colour;
    for (int side : {0, 1}) at(side, end(edge, side), colour) = edge;
  }

  /// Swaps two colours along the path that begins at a right node with `a`. That frees `a` at the node.
  void swap_from(int right, int a, int b) {
    std::vector<int> path;
    int side = 1, node = right, colour = a;
    for (int edge = at(side, node, colour); edge != kNone; edge = at(side, node, colour)) {
      path.push_back(edge);
      side = 1 - side;
      node = end(edge, side);
      colour = a + b - colour;
    }
    for (const int edge : path) {
      for (int s : {0, 1}) at(s, end(edge, s), (*this)[edge]) = kNone;
    }
    for (const int edge : path) set(edge, a + b - (*this)[edge]);
  }

  int colours_;
  std::vector<std::array<int, 2>> ends_;
  std::vector<int> colour_;
  std::array<std::vector<int>, 2> at_;  ///< the edge of each colour, per node
};

/// For each point, the group of threads that accesses it at the same time. Points that no thread accesses
/// form an extra group.
std::vector<int> groups(const Accesses& accesses, int points, int banks) {
  std::vector<int> group(static_cast<std::size_t>(points), -1);
  const int of_round = bank_groups(accesses.threads, banks);
  int count = 0;
  for (std::size_t i = 0; i < accesses.points.size(); ++i) {
    const int at = static_cast<int>(i), round = at / accesses.threads, thread = at % accesses.threads;
    count = (round + 1) * of_round;
    if (accesses.points[i] >= 0)
      group[static_cast<std::size_t>(accesses.points[i])] = round * of_round + thread / banks;
  }
  for (int& own : group) own = own < 0 ? count++ : own;
  return group;
}

/// Accesses the elements in order.
Accesses in_order(int points, int threads) {
  Accesses accesses{threads, {}};
  for (int i = 0; i < static_cast<int>(round_up(points, threads)); ++i)
    accesses.points.push_back(i < points ? i : -1);
  return accesses;
}

/// What threads hold before the first pass, or after the last pass of the inverse FFT.
Accesses of_pass(const Step& step, const std::vector<int>& order) {
  const int radix = step.policy.radices[0], apart = step.policy.length() / radix,
            threads = step.policy.threads_per_transform;
  Accesses accesses{threads, {}};
  for (int first = 0; first < apart; first += threads) {
    for (int k = 0; k < radix; ++k) {
      for (int j = first; j < first + threads; ++j)
        accesses.points.push_back(j < apart ? order[static_cast<std::size_t>(j + k * apart)] : -1);
    }
  }
  return accesses;
}

/// Byte addresses, grouped by thread, then in the order of rounds.
std::vector<int> addresses(const Accesses& accesses, const std::vector<int>& slots, int bytes) {
  const std::size_t threads = static_cast<std::size_t>(accesses.threads),
                    rounds = accesses.points.size() / threads,
                    pitch = static_cast<std::size_t>(round_up(static_cast<std::int64_t>(rounds), 4));
  std::vector<int> table(threads * pitch, 0);
  for (std::size_t i = 0; i < accesses.points.size(); ++i) {
    if (accesses.points[i] >= 0)
      table[i % threads * pitch + i / threads] = slots[static_cast<std::size_t>(accesses.points[i])] * bytes;
  }
  return table;
}

}  // namespace

std::vector<int> slots_for(const Accesses& stores, const Accesses& loads, int points, int banks) {
  const std::vector<int> left = groups(stores, points, banks), right = groups(loads, points, banks);
  const int nodes = 1 + std::max(*std::max_element(left.begin(), left.end()),
                                 *std::max_element(right.begin(), right.end()));
  Colouring bank(points, nodes, banks);
  for (int p = 0; p < points; ++p) {
    const auto i = static_cast<std::size_t>(p);
    bank.add(p, left[i], right[i]);
  }
  std::vector<int> slots, used(static_cast<std::size_t>(banks), 0);
  for (int p = 0; p < points; ++p) {
    int colour = bank[p];
    if (colour == bank[0] || colour == 0) colour = bank[0] - colour;  // colours 0 and bank[0] swap names
    slots.push_back(colour + banks * used[static_cast<std::size_t>(colour)]++);
  }
  return slots;
}

SlotTables slot_tables(const Step& step, const Convolution& convolution, bool single) {
  const int banks = banks_of(single), bytes = value_bytes(single);
  const Accesses order = in_order(step.points, step.policy.threads_per_transform),
                 inputs = of_pass(step, convolution.gather), outputs = of_pass(step, convolution.scatter);
  const std::vector<int> in = slots_for(order, inputs, step.points, banks),
                         out = slots_for(outputs, order, step.points, banks);
  return {addresses(order, in, bytes), addresses(inputs, in, bytes), addresses(outputs, out, bytes),
          addresses(order, out, bytes)};
}

}  // namespace sfft::detail::tuned
