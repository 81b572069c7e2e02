// Arrays in and out: borrowed on the way in, handed over on the way out. Nothing is copied but the order.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>
#include <vector>

#include "gcbs/array.h"
#include "gcbs/matrix.h"

namespace gcbs::python {

namespace nb = nanobind;

using AnyArray = nb::ndarray<nb::ro>;

/// Borrows the array: it must outlive the view. Throws Error(input) for what is no matrix of floats in
/// this machine's memory, row after row.
MatrixView view_of(const AnyArray& array, std::string name);

/// Whole numbers, one dimension. Throws Error(input).
std::vector<std::int64_t> integers_of(nb::handle object, const std::string& name);

template <class T>
nb::object to_numpy(Array<T>&& values, std::initializer_list<std::size_t> shape) {
  auto* kept = new Array<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Array<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), shape, owner));
}

template <class T, class From>
nb::object copied_to_numpy(const From& values, std::initializer_list<std::size_t> shape) {
  Array<T> copy(std::size(values));
  std::size_t i = 0;
  for (const auto& value : values) copy[i++] = static_cast<T>(value);
  return to_numpy(std::move(copy), shape);
}

}  // namespace gcbs::python
