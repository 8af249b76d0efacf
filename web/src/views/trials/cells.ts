import { middle, value } from '../../ui/format';
import type { Cell } from './columns';

export const cellText = (cell: Cell): string => (cell === null ? '' : typeof cell === 'number' ? value(cell) : middle(cell, 32));
export const isBad = (cell: Cell): boolean => typeof cell === 'number' && !Number.isFinite(cell);
