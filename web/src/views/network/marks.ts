// Captures, triggers and first non-finite values of a run, at their steps.
import type { Alert } from '../../api_types';

export interface Mark {
  step: number;
  kind: 'bad' | 'capture' | 'other';
  text: string;
  capture: string | null; // its name
  tag: string | null;
}

export function marksOf(alerts: readonly Alert[], run: string): Mark[] {
  const marks: Mark[] = [];
  for (const alert of alerts) {
    if (alert.run !== run || alert.step === null) continue;
    const kind = alert.kind === 'nonfinite' ? 'bad' : alert.capture !== null ? 'capture' : 'other';
    marks.push({ step: alert.step, kind, text: alert.text, capture: alert.capture, tag: alert.tag });
  }
  return marks.sort((a, b) => a.step - b.step);
}
