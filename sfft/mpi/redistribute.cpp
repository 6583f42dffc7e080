// SPDX-License-Identifier: Apache-2.0
// Redistributes from any boxes to any boxes; processes exchange their boxes first.
#include <fmt/format.h>

#include <optional>

#include "sfft/mpi/exchange.hpp"

namespace sfft::mpi {

namespace detail {

namespace {

void check_box(const Box& box, std::size_t values) {
  constexpr std::int64_t kMax = std::int64_t{1} << 40;
  std::int64_t points = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    if (box.begin[d] < 0 || box.extent[d] < 0 || box.begin[d] > kMax || box.extent[d] > kMax ||
        (box.extent[d] > 0 && points > kMax / box.extent[d]))
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("a box from {} on with {} elements in dimension {}", box.begin[d], box.extent[d], d));
    points *= box.extent[d];
  }
  if (static_cast<std::size_t>(points) != values)
    throw Error(ErrorCode::shape_mismatch, fmt::format("{} values for a box of {}", values, points));
}

/// Each process checks its own boxes against all: `from` boxes must not overlap, and `to` boxes
/// must be covered.
void check_cover(const Layout& from, const Layout& to, std::size_t me) {
  std::int64_t covered = 0;
  for (std::size_t other = 0; other < from.boxes.size(); ++other) {
    covered += common(to.boxes[me], from.boxes[other]).points();
    if (other != me && common(from.boxes[me], from.boxes[other]).points() > 0)
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("the boxes that ranks {} and {} have overlap: give each element once", me, other));
  }
  if (covered != to.boxes[me].points())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("no process has {} of the elements that this one is to get",
                            to.boxes[me].points() - covered));
}

}  // namespace

}  // namespace detail

template <class T>
void redistribute(const Communicator& communicator, std::span<const T> values, const Box& from,
                  std::span<T> result, const Box& to) {
  detail::Comm& comm = *detail::comm_of(communicator);
  comm.same({static_cast<std::int64_t>(sizeof(T))}, "size of elements");
  comm.together([&] {
    detail::check_box(from, values.size());
    detail::check_box(to, result.size());
  });
  std::vector<std::int64_t> mine;
  for (const Box& box : {from, to}) {
    mine.insert(mine.end(), box.begin.begin(), box.begin.end());
    mine.insert(mine.end(), box.extent.begin(), box.extent.end());
  }
  const std::vector<std::int64_t> all = comm.gather(mine);
  std::optional<detail::Exchange> exchange;
  detail::Staging staging;
  comm.together([&] {
    detail::Layout sources;
    detail::Layout targets;
    for (std::size_t at = 0; at < all.size(); at += 12) {
      sources.boxes.push_back({{all[at], all[at + 1], all[at + 2]}, {all[at + 3], all[at + 4], all[at + 5]}});
      targets.boxes.push_back(
          {{all[at + 6], all[at + 7], all[at + 8]}, {all[at + 9], all[at + 10], all[at + 11]}});
    }
    detail::check_cover(sources, targets, static_cast<std::size_t>(comm.rank()));
    exchange.emplace(comm, sources, targets, sizeof(T));
    exchange->reserve(staging);
  });
  exchange->run(comm, reinterpret_cast<const std::byte*>(values.data()),
                reinterpret_cast<std::byte*>(result.data()), staging);
}

template void redistribute(const Communicator&, std::span<const float>, const Box&, std::span<float>,
                           const Box&);
template void redistribute(const Communicator&, std::span<const double>, const Box&, std::span<double>,
                           const Box&);
template void redistribute(const Communicator&, std::span<const std::complex<float>>, const Box&,
                           std::span<std::complex<float>>, const Box&);
template void redistribute(const Communicator&, std::span<const std::complex<double>>, const Box&,
                           std::span<std::complex<double>>, const Box&);

}  // namespace sfft::mpi
