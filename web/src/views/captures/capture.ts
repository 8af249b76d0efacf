// The open capture, and what its numbers mean.
import type { Capture, CapturedStep, CapturedTensor, GrowthStep, Num } from '../../api_types';
import { num } from '../../api';
import { urlSignal } from '../../state';
import { flag, numberIn, optional, text } from '../../url';
import { integer, plural, value } from '../../ui/format';

const kBetween = '/captures/';

// "<run>/captures/<name>", like the directory; empty: none.
export const openCapture = urlSignal('capture', '', text);

// The place of the shown step in the capture; null: the one at which the first bad value appeared.
export const openStep = urlSignal<number | null>('at', null, optional(numberIn(0, 1e6)));
// The key of the tensor whose growth is shown; empty: the producer.
export const openTensor = urlSignal('tensor', '', text);
export const onlyBad = urlSignal('bad', false, flag);

export const addressOf = (run: string, name: string): string => `${run}${kBetween}${name}`;

export function partsOf(address: string): { run: string; name: string } | null {
  const at = address.lastIndexOf(kBetween);
  if (at < 0 || at + kBetween.length === address.length) return null;
  return { run: address.slice(0, at), name: address.slice(at + kBetween.length) };
}

export const badElements = (tensor: CapturedTensor): number =>
  tensor.nan + tensor.positive_infinity + tensor.negative_infinity;

// "finite", "empty", or "12 NaN, 1 Inf of 128".
export function healthOf(tensor: CapturedTensor): string {
  if (tensor.count === 0) return 'empty';
  const parts = [
    tensor.nan > 0 ? `${integer(tensor.nan)} NaN` : '',
    tensor.positive_infinity > 0 ? `${integer(tensor.positive_infinity)} Inf` : '',
    tensor.negative_infinity > 0 ? `${integer(tensor.negative_infinity)} −Inf` : '',
  ].filter(Boolean);
  return parts.length === 0 ? 'finite' : `${parts.join(', ')} of ${integer(tensor.count)}`;
}

export const elementsOf = ({ nan, infinite, count }: { nan: number; infinite: number; count: number }): string => {
  const parts = [nan > 0 ? `${integer(nan)} NaN` : '', infinite > 0 ? `${integer(infinite)} Inf` : ''].filter(Boolean);
  return `${parts.join(' and ')} in ${plural(count, 'element')}`;
};

export const shown = (of: Num): string => value(num(of));

// The step at which the first bad value appeared, otherwise that of the trigger; the last one if it was not saved.
export function usualStep(capture: Capture): number {
  const cause = capture.origin.producers[0]?.step ?? capture.step;
  const found = capture.steps.findIndex((one) => one.step === cause && !one.evaluation);
  return found < 0 ? capture.steps.length - 1 : found;
}

export function usualTensor(capture: Capture): string {
  return capture.origin.producers[0]?.key ?? capture.steps[usualStep(capture)]?.tensors[0]?.key ?? '';
}

export function roleOf(capture: Capture, step: CapturedStep, tensor: CapturedTensor): string {
  const { producers, propagators } = capture.origin;
  const first = producers[0]?.step;
  if (producers.some((one) => one.key === tensor.key && one.step === step.step)) return 'producer';
  if (badElements(tensor) === 0) return '';
  return step.step === first && propagators.includes(tensor.key) ? 'passes it on' : 'not finite';
}

// The largest |x| of the finite elements; NaN if there are none.
export const magnitudeOf = (step: GrowthStep): number => Math.max(Math.abs(num(step.min)), Math.abs(num(step.max)));

// From the first to the last saved step at which the tensor has finite values, before it has other ones.
export function grownFold(steps: readonly GrowthStep[]): { first: number; last: number; from: number; to: number } | null {
  const broken = steps.findIndex((step) => step.nan + step.positive_infinity + step.negative_infinity > 0);
  const healthy = (broken < 0 ? steps : steps.slice(0, broken)).filter((step) => Number.isFinite(magnitudeOf(step)));
  const [first, last] = [healthy[0], healthy.at(-1)];
  if (!first || !last || first === last) return null;
  return { first: first.step, last: last.step, from: magnitudeOf(first), to: magnitudeOf(last) };
}

// Where in the expression an error of `arm` is: "when 'loss >', column 7: expected a number".
export function placeOf(error: string, when: string): { column: number; text: string } | null {
  const found = /, column (\d+): (.*)$/s.exec(error);
  const column = Number(found?.[1]);
  return found && column >= 1 && column <= when.length + 1 ? { column, text: found[2] ?? '' } : null;
}
