// PR curves and hyper-parameters as a person reads them, and as JSON.
#pragma once

#include <string>
#include <vector>

#include "formats/hparams.h"
#include "formats/json_writer.h"
#include "sonde/status.h"
#include "sonde/tensor.h"
#include "tensor_text.h"

namespace sonde::cli {

// What a classifier does at one threshold.
struct PrPoint {
  double threshold = 0;
  double true_positives = 0;
  double false_positives = 0;
  double true_negatives = 0;
  double false_negatives = 0;
  double precision = 0;
  double recall = 0;
};
using PrCurve = std::vector<PrPoint>;  // by ascending threshold, from 0 to 1

// Of the [6, thresholds] tensor that TensorBoard keeps.
Result<PrCurve> pr_curve_of(const TensorView& view);
// The area below the curve: for each threshold the precision times what the recall loses at the next one.
double average_precision(const PrCurve& curve) noexcept;
std::string pr_curve_text(const PrCurve& curve, const TextStyle& style);
void put_pr_curve(formats::JsonWriter& json, const PrCurve& curve);  // the members "average_precision" and "points"

std::string hparams_text(const hparams::Content& content);
void put_hparams(formats::JsonWriter& json, const hparams::Content& content);  // members of an object
// "0.001", "adam", "true"; "null" where there is none.
std::string value_text(const hparams::Value& value);

}  // namespace sonde::cli
