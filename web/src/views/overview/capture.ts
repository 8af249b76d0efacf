// The open capture, and what its numbers mean.
import type { CapturedTensor, Num } from '../../api_types';
import { num } from '../../api';
import { urlSignal } from '../../state';
import { text } from '../../url';
import { integer, plural, value } from '../../ui/format';

const kBetween = '/captures/';

// "<run>/captures/<name>", like the directory; empty: none.
export const openCapture = urlSignal('capture', '', text);

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
