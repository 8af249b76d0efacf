// The position of a tooltip in the window: on the side of the pointer that has more room.
export function beside(x: number, y: number): Record<string, string> {
  const leftHalf = x < window.innerWidth / 2;
  const topHalf = y < window.innerHeight / 2;
  return {
    left: leftHalf ? `${x + 14}px` : 'auto',
    right: leftHalf ? 'auto' : `${window.innerWidth - x + 14}px`,
    top: topHalf ? `${y + 10}px` : 'auto',
    bottom: topHalf ? 'auto' : `${window.innerHeight - y + 10}px`,
  };
}
