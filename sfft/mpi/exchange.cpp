// SPDX-License-Identifier: Apache-2.0
// Each pair of processes with elements for each other exchanges one message, in pieces that MPI can count.
// Messages use separate memory: after a failure, nothing is written to the caller's.
#include "sfft/mpi/exchange.hpp"
#include "kernels/runtime/aligned_buffer.hpp"

#include <algorithm>
#include <limits>

namespace sfft::mpi::detail {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 30;
constexpr int kTag = 1;

template <class Post>
void in_pieces(std::size_t bytes, const Post& post) {
  for (std::size_t done = 0; done < bytes; done += kPieceBytes)
    post(done, static_cast<int>(std::min(kPieceBytes, bytes - done)));
}

}  // namespace

Exchange::Exchange(const Comm& comm, const Layout& from, const Layout& to, std::size_t element_bytes)
    : from_(from.boxes[static_cast<std::size_t>(comm.rank())]),
      to_(to.boxes[static_cast<std::size_t>(comm.rank())]),
      from_strides_(strides_of(from_, from.order)),
      to_strides_(strides_of(to_, to.order)),
      element_bytes_(element_bytes) {
  send_bytes_ = add_parts(from_, to.boxes, comm.rank(), sends_);
  receive_bytes_ = add_parts(to_, from.boxes, comm.rank(), receives_);
}

std::size_t Exchange::add_parts(const Box& own, const std::vector<Box>& others, int rank,
                                std::vector<Part>& parts) const {
  std::size_t place = 0;
  const int count = static_cast<int>(others.size());
  for (int step = 1; step < count; ++step) {  // each starts with its neighbour, not all with the first
    const int other = (rank + step) % count;
    const Box box = common(own, others[static_cast<std::size_t>(other)]);
    if (box.points() == 0) continue;
    const std::size_t bytes = static_cast<std::size_t>(box.points()) * element_bytes_;
    parts.push_back({other, box, place, bytes});
    place += sfft::detail::aligned_bytes(bytes);
  }
  return place;
}

void Exchange::reserve(Staging& staging) const {
  if (staging.sent.size < send_bytes_) staging.sent = Bytes(send_bytes_);
  if (staging.received.size < receive_bytes_) staging.received = Bytes(receive_bytes_);
}

void Exchange::run(Comm& comm, const std::byte* from, std::byte* to, Staging& staging) const {
  const Bytes& sent = staging.sent;
  const Bytes& received = staging.received;
  std::vector<MPI_Request> requests;
  const auto request = [&] { return &requests.emplace_back(MPI_REQUEST_NULL); };
  const auto element = static_cast<std::int64_t>(element_bytes_);
  try {
    for (const Part& part : receives_) {
      in_pieces(part.bytes, [&](std::size_t done, int bytes) {
        MPI_Irecv(received.data.get() + part.place + done, bytes, MPI_BYTE, part.rank, kTag, comm.get(),
                  request());
      });
    }
    for (const Part& part : sends_) {
      std::byte* const place = sent.data.get() + part.place;
      copy_elements(part.box.extent, from + element * offset_of(part.box, from_, from_strides_),
                    from_strides_, place, strides_of(part.box, kRowMajor), element_bytes_);
      in_pieces(part.bytes, [&](std::size_t done, int bytes) {
        MPI_Isend(place + done, bytes, MPI_BYTE, part.rank, kTag, comm.get(), request());
      });
    }
    const Box own = common(from_, to_);
    copy_elements(own.extent, from + element * offset_of(own, from_, from_strides_), from_strides_,
                  to + element * offset_of(own, to_, to_strides_), to_strides_, element_bytes_);
    comm.wait(requests);
  } catch (const Error&) {
    comm.keep_if_failed(std::move(staging.sent));
    comm.keep_if_failed(std::move(staging.received));
    throw;
  }
  for (const Part& part : receives_) {
    copy_elements(part.box.extent, received.data.get() + part.place, strides_of(part.box, kRowMajor),
                  to + element * offset_of(part.box, to_, to_strides_), to_strides_, element_bytes_);
  }
}

std::int64_t Exchange::bytes_sent() const noexcept {
  std::size_t bytes = 0;
  for (const Part& part : sends_) bytes += part.bytes;
  return static_cast<std::int64_t>(bytes);
}

}  // namespace sfft::mpi::detail
