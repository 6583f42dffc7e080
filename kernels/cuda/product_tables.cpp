// A plan's window, small FFT and recovery multiplied out.
#include <cmath>

#include "kernels/common/index.hpp"
#include "kernels/cuda/binning_tables.hpp"
#include "kernels/cuda/convert.hpp"

namespace sfft::detail::cuda {

namespace {

using Row = std::vector<std::complex<double>>;

template <class Real>
bool small_enough(std::int64_t rows, std::int64_t samples) {
  return samples <= kMostProductSamples && rows * product_pitch<Real>(static_cast<int>(samples)) *
                                                   static_cast<std::int64_t>(sizeof(Complex<Real>)) <=
                                               kMostProductBytes;
}

}  // namespace

/// Probes are every empty bucket of every delay, weighted as the power of the FFT's outputs would be.
template <class Real>
void BinningTables<Real>::make_product(const CombData& data) {
  const std::int64_t points = data.bucket_count();
  const std::int64_t delays = data.delay_count();
  std::int64_t empty = 0;
  for (const double weight : data.bucket_weight) empty += weight > 0;
  if (!small_enough<Real>(view_.k + empty * delays, data.samples())) return;

  const auto root = [&](std::int64_t bucket, std::int64_t m) {
    std::complex<double> w = 1;
    for (std::size_t d = 3; d-- > 0;) {
      const std::int64_t n = data.buckets[d];
      w *= std::conj(phase(bucket % n, m % n, n));
      bucket /= n;
      m /= n;
    }
    return w;
  };
  std::vector<Row> rows;
  for (std::size_t i = 0; i < data.bucket.size(); ++i) {
    Row row;
    for (std::int64_t j = 0; j < delays; ++j) {
      const std::complex<double> weight =
          data.weights[i * static_cast<std::size_t>(delays) + static_cast<std::size_t>(j)];
      for (std::int64_t m = 0; m < points; ++m) row.push_back(weight * root(data.bucket[i], m));
    }
    rows.push_back(std::move(row));
  }
  for (std::int64_t b = 0; b < points; ++b) {
    const double weight = data.bucket_weight[static_cast<std::size_t>(b)];
    if (!(weight > 0)) continue;
    for (std::int64_t j = 0; j < delays; ++j) {
      Row row(static_cast<std::size_t>(data.samples()));
      for (std::int64_t m = 0; m < points; ++m)
        row[static_cast<std::size_t>(j * points + m)] = std::sqrt(weight / view_.power_unit) * root(b, m);
      rows.push_back(std::move(row));
    }
  }
  set_product(std::move(rows));
}

template <class Real>
void BinningTables<Real>::make_product(const FlatPlanData& data) {
  const std::int64_t delays = data.delay_count();
  const std::int64_t taps = data.taps();
  if (!small_enough<Real>(data.rows(), delays * taps)) return;
  std::vector<Row> rows;
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    Row row(static_cast<std::size_t>(delays * taps));
    for (std::int64_t q = 0; q < data.row_buckets; ++q) {
      const std::int64_t bucket = (data.first_bucket[static_cast<std::size_t>(i)] + q) % data.buckets;
      for (std::int64_t j = 0; j < delays; ++j) {
        const std::complex<double> weight =
            data.weights[static_cast<std::size_t>((i * data.row_buckets + q) * delays + j)];
        for (std::int64_t m = 0; m < taps; ++m) {
          row[static_cast<std::size_t>(j * taps + m)] +=
              weight * data.window[static_cast<std::size_t>(m)] *
              std::conj(phase(bucket, m % data.buckets, data.buckets));
        }
      }
    }
    rows.push_back(std::move(row));
  }
  set_product(std::move(rows));
}

template <class Real>
void BinningTables<Real>::set_product(std::vector<std::vector<std::complex<double>>> rows) {
  Product<Real> product;
  product.rows = static_cast<int>(rows.size());
  product.k = view_.k;
  product.samples = static_cast<int>(rows[0].size());
  product.pitch = product_pitch<Real>(product.samples);
  product.taps = view_.taps();
  product.gain = view_.gain;
  product.bias = view_.bias;
  product.flags = view_.flags;
  product.power_unit = view_.power_unit;
  product.tail_per_scale = view_.tail_per_scale;
  product.gain_sum = view_.gain_sum;
  product.bias_sum = view_.bias_sum;
  Row matrix;
  for (Row& row : rows) {
    row.resize(static_cast<std::size_t>(product.pitch));
    matrix.insert(matrix.end(), row.begin(), row.end());
  }
  product.matrix = keep<Complex<Real>>(upload(as_device<Real>(matrix)));
  compact_product_ = product;
  std::vector<std::int64_t> indices = sample_indices();
  indices.resize(static_cast<std::size_t>(product.samples));  // an odd last line's twin is not read
  product.indices = keep<std::int64_t>(upload(indices));
  product_ = product;
}

template void BinningTables<float>::make_product(const CombData&);
template void BinningTables<double>::make_product(const CombData&);
template void BinningTables<float>::make_product(const FlatPlanData&);
template void BinningTables<double>::make_product(const FlatPlanData&);

}  // namespace sfft::detail::cuda
