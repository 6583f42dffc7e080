// SPDX-License-Identifier: Apache-2.0
// Scatter, gather and redistribution: every element arrives where it belongs.
#include <gtest/gtest.h>

#include "sfft/mpi.hpp"
#include "tests/mpi/parts.hpp"

namespace sfft::mpi {
namespace {

/// A slab of dimension d of all processes; the last ones may have nothing.
Box slab(const Shape& shape, int dimension, int rank, int size) {
  Box box = test::whole_box(shape, false);
  const auto d = static_cast<std::size_t>(dimension);
  const std::int64_t each = (box.extent[d] + size - 1) / size;
  const std::int64_t begin = std::min(box.extent[d], rank * each);
  box.extent[d] = std::min(each, box.extent[d] - begin);
  box.begin[d] = begin;
  return box;
}

template <class T>
void check_redistribution() {
  const Communicator world = Communicator::world();
  for (const Shape& shape : {Shape{9, 7, 5}, Shape{4, 33}, Shape{1, 2, 100}, Shape{50}}) {
    const Box all = test::whole_box(shape, false);
    const auto signal = test::random_signal<T>(shape);
    for (int from = 0; from < 3; ++from) {
      for (int to = 0; to < 3; ++to) {
        const Box source = slab(shape, from, world.rank(), world.size());
        const Box target =
            slab(shape, to, world.size() - 1 - world.rank(), world.size());  // in the reverse order
        const auto own = test::part_of(signal, all, source);
        std::vector<T> got(static_cast<std::size_t>(target.points()));
        redistribute<T>(world, own, source, got, target);
        EXPECT_EQ(got, test::part_of(signal, all, target))
            << shape.to_string() << " " << from << " to " << to;
      }
    }
  }
}

TEST(Redistribute, EveryElementArrives) {
  check_redistribution<float>();
  check_redistribution<double>();
  check_redistribution<std::complex<float>>();
  check_redistribution<std::complex<double>>();
}

TEST(Redistribute, PartsThatAreWantedMayOverlapOrBeMissing) {
  const Communicator world = Communicator::world();
  const Shape shape{6, 8};
  const Box all = test::whole_box(shape, false);
  const auto signal = test::random_signal<double>(shape);
  const Box source = slab(shape, 1, world.rank(), world.size());
  const Box target{{1, 2, 0}, {4, 5, 1}};  // the same in all
  std::vector<double> got(20);
  redistribute<double>(world, test::part_of(signal, all, source), source, got, target);
  EXPECT_EQ(got, test::part_of(signal, all, target));
}

TEST(Redistribute, ScatterAndGather) {
  const Communicator world = Communicator::world();
  const Shape shape{7, 9, 10};
  for (int root = 0; root < world.size(); ++root) {
    const Plan<float> plan(world, shape, Domain::real);
    const auto signal = test::random_signal<float>(shape, 3);
    const bool mine = world.rank() == root;
    std::vector<float> part(static_cast<std::size_t>(plan.signal_box().points()));
    plan.scatter_signal(std::span<const float>(mine ? signal : std::vector<float>()), std::span<float>(part),
                        root);
    EXPECT_EQ(part, test::part_of(signal, test::whole_box(shape, false), plan.signal_box()));
    std::vector<float> whole(mine ? signal.size() : 0);
    plan.gather_signal(std::span<const float>(part), std::span<float>(whole), root);
    if (mine) {
      EXPECT_EQ(whole, signal);
    }

    const auto spectrum = test::random_signal<std::complex<float>>({7, 9, 6}, 4);
    std::vector<std::complex<float>> piece(static_cast<std::size_t>(plan.spectrum_box().points()));
    plan.scatter_spectrum(mine ? spectrum : std::vector<std::complex<float>>(), piece, root);
    EXPECT_EQ(piece, test::part_of(spectrum, test::whole_box(shape, true), plan.spectrum_box()));
    std::vector<std::complex<float>> back(mine ? spectrum.size() : 0);
    plan.gather_spectrum(piece, back, root);
    if (mine) {
      EXPECT_EQ(back, spectrum);
    }
  }
}

}  // namespace
}  // namespace sfft::mpi
