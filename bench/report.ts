/** Prints the result of one row. */
import type { Cost } from './measure.ts';
import type { Claim, RowResult } from './row.ts';

/** @param factor the contract times this is still accepted. @returns whether every claim held. */
export function printRow(name: string, { costs, claims }: RowResult, factor: number): boolean {
  const [base] = costs;
  const width = Math.max(12, ...costs.map((cost) => cost.name.length), ...claims.map(({ what }) => what.length));
  const lines = [`\n${name}`, `  ${''.padEnd(width)}      best    median       CPU    memory      wall`];
  for (const cost of costs) lines.push(`  ${cost.name.padEnd(width)}${columns(cost, base ?? cost)}`);
  for (const claim of claims) lines.push(`  ${claim.what.padEnd(width)}${verdict(claim, factor)}`);
  process.stdout.write(`${lines.join('\n')}\n`);
  return claims.every((claim) => holds(claim, factor));
}

function columns(cost: Cost, base: Cost): string {
  const times = [cost.wall, cost.medianWall, cost.cpu].map((ms) => `${ms.toFixed(1)} ms`.padStart(10));
  return `${times.join('')}${`${cost.memory.toFixed(0)} MiB`.padStart(10)}${`${(cost.wall / base.wall).toFixed(2)} ×`.padStart(10)}`;
}

function verdict(claim: Claim, factor: number): string {
  const bound = `${claim.atLeast ? '≥' : '≤'} ${claim.limit}${factor === 1 ? '' : ` (accepted to ${allowed(claim, factor).toFixed(2)})`}`;
  return `${claim.measured.toFixed(2).padStart(10)}  ${holds(claim, factor) ? 'ok  ' : 'OVER'}  ${bound}`;
}

function holds(claim: Claim, factor: number): boolean {
  return claim.atLeast ? claim.measured >= allowed(claim, factor) : claim.measured <= allowed(claim, factor);
}

function allowed({ limit, atLeast }: Claim, factor: number): number {
  return atLeast ? limit / factor : limit * factor;
}
