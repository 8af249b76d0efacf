// Types, tensors and errors of OpenVINO in the words of Sonde.
#pragma once

#include <exception>
#include <new>
#include <openvino/core/type/element_type.hpp>
#include <openvino/runtime/tensor.hpp>
#include <optional>
#include <string>

#include "sonde/status.h"
#include "sonde/tensor.h"

namespace sonde::inspect {

std::optional<DType> dtype_of(const ov::element::Type& type);
ov::element::Type element_of(DType dtype);

// A tensor of the runtime in place. Empty if Sonde has no such type, or the tensor has too many axes.
std::optional<TensorView> view_of(const ov::Tensor& tensor);

// What an exception of OpenVINO says, as a part of a sentence without the places in its sources.
std::string reason_of(const std::exception& error);

// Calls `body`, which returns a Status or a Result, and turns exceptions into errors that begin with `doing`.
template <class Body>
auto guarded(const std::string& doing, Body body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Status(Code::exhausted, doing + ": out of memory");
  } catch (const std::exception& error) {
    return Status(Code::unsupported, doing + ": " + reason_of(error));
  } catch (...) {
    return Status(Code::unsupported, doing + ": OpenVINO gave no reason");
  }
}

}  // namespace sonde::inspect
