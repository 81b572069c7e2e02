#include "arrays.h"

#include "gcbs/error.h"

namespace gcbs::python {
namespace {

Error no_matrix(const std::string& name, const std::string& what, const std::string& fix) {
  return Error(ErrorKind::input, name + " is no matrix of embeddings", what, fix);
}

ValueType type_of(const AnyArray& array, const std::string& name) {
  const nb::dlpack::dtype type = array.dtype();
  const auto is = [&](nb::dlpack::dtype_code code, unsigned bits) {
    return type.code == static_cast<std::uint8_t>(code) && type.bits == bits && type.lanes == 1;
  };
  if (is(nb::dlpack::dtype_code::Float, 32)) return ValueType::float32;
  if (is(nb::dlpack::dtype_code::Float, 16)) return ValueType::float16;
  if (is(nb::dlpack::dtype_code::Bfloat, 16)) return ValueType::bfloat16;
  if (is(nb::dlpack::dtype_code::Float, 64)) return ValueType::float64;
  throw no_matrix(name, "its values are not float32, float16, bfloat16 or float64",
                  "convert it, for example to float32");
}

}  // namespace

MatrixView view_of(const AnyArray& array, std::string name) {
  if (array.device_type() != nb::device::cpu::value)
    throw Error(ErrorKind::input, name + " is on another device", "gcbs reads this machine's memory",
                "give " + name + ".cpu(), or copy=True");
  if (array.ndim() != 2)
    throw no_matrix(name, "it has " + std::to_string(array.ndim()) + " dimensions",
                    "give N rows of d values each");
  MatrixView view;
  view.type = type_of(array, name);
  view.data = static_cast<const std::byte*>(array.data());
  view.rows = array.shape(0);
  view.cols = array.shape(1);
  view.row_bytes = static_cast<std::size_t>(array.stride(0)) * bytes_of(view.type);
  view.name = std::move(name);
  return view;
}

std::vector<std::int64_t> integers_of(nb::handle object, const std::string& name) {
  nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> array;
  if (!nb::try_cast(object, array))
    throw Error(ErrorKind::input, name + " is no list of whole numbers", "one number a row is wanted",
                "give a one-dimensional array of int64");
  return {array.data(), array.data() + array.size()};
}

}  // namespace gcbs::python
