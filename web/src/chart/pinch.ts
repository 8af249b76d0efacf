// Two fingers on a chart: they zoom when they move apart, and pan when they move together.
import type { Pair } from './gestures';
import { type Frame, toValue } from './scale';

const kLeast = 16; // least distance between two fingers in pixels

interface Grip {
  at: number; // pixel between the fingers
  wide: number; // pixels between them
}

// The visible range after the fingers have moved: the data between them stays between them.
export function pinched(frame: Frame, from: Grip, to: Grip): Pair {
  const factor = from.wide / to.wide;
  return [
    toValue(frame.x, from.at - (to.at - frame.left) * factor),
    toValue(frame.x, from.at + (frame.right - to.at) * factor),
  ];
}

export class Pinch {
  private readonly fingers = new Map<number, Pair>();
  private begun: { frame: Frame; grip: Grip } | null = null;
  private many = false; // there were two fingers at once since the first touched

  down(id: number, place: Pair, frame: Frame): void {
    this.fingers.set(id, place);
    const grip = this.grip();
    this.begun = grip && { frame, grip };
    this.many ||= this.fingers.size > 1;
  }

  // The new range; null: it is not a pinch.
  move(id: number, place: Pair): Pair | null {
    if (!this.fingers.has(id)) return null;
    this.fingers.set(id, place);
    const grip = this.grip();
    return this.begun && grip && pinched(this.begun.frame, this.begun.grip, grip);
  }

  // Whether it was a single finger, whose tap is a click.
  up(id: number): boolean {
    const single = this.fingers.has(id) && !this.many;
    this.fingers.delete(id);
    this.begun = null;
    if (this.fingers.size === 0) this.many = false;
    return single;
  }

  private grip(): Grip | null {
    const [a, b] = [...this.fingers.values()];
    if (!a || !b || this.fingers.size !== 2) return null;
    return { at: (a[0] + b[0]) / 2, wide: Math.max(kLeast, Math.hypot(a[0] - b[0], a[1] - b[1])) };
  }
}
