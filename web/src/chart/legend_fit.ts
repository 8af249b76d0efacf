// How many names fit into whole rows, with room for "+12 more" if not all of them do. All in pixels; `others` means
// that there are more names than the measured ones.
export function legendFit(
  widths: readonly number[],
  others: boolean,
  { more, gap, room, rows }: { more: number; gap: number; room: number; rows: number },
): number {
  const fits = (all: readonly number[]): boolean => {
    let row = 1;
    let end = 0; // end of the occupied part of the row
    for (const width of all) {
      const next = end === 0 ? width : end + gap + width;
      if (end > 0 && next > room) ++row;
      end = end > 0 && next > room ? width : next;
    }
    return row <= rows;
  };
  if (!others && fits(widths)) return widths.length;
  let count = others ? widths.length : widths.length - 1;
  while (count > 1 && !fits([...widths.slice(0, count), more])) --count;
  return Math.max(count, Math.min(1, widths.length));
}
