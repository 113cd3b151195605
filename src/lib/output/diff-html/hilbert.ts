/** The side of the square: 2^5 cells of 2^10. */
export const SIDE = 32;
export const CELL_BITS = 10;

/**
 * Where the cell with this number lies on a Hilbert curve through the square: neighbours in address space stay
 * neighbours in the picture, and every power-of-four block of addresses is a square.
 */
export function hilbertCell(number: number): { readonly x: number; readonly y: number } {
  let x = 0;
  let y = 0;
  let rest = number;
  for (let size = 1; size < SIDE; size *= 2) {
    const right = (rest >> 1) & 1;
    const up = (rest ^ right) & 1;
    if (up === 0) {
      if (right === 1) {
        x = size - 1 - x;
        y = size - 1 - y;
      }
      [x, y] = [y, x];
    }
    x += size * right;
    y += size * up;
    rest >>= 2;
  }
  return { x, y };
}
