import type * as ChalkModule from 'chalk';
import type { ChalkInstance } from 'chalk';

/** The few emphases that text output uses; each returns the text unchanged where colours are off. */
export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  warning(text: string): string;
  bad(text: string): string;
}

const same = (text: string): string => text;

const PLAIN: Paint = { bold: same, dim: same, good: same, warning: same, bad: same };

/** @param colour false where the result goes to a file or a pipe, or NO_COLOR is set */
export function createPaint(colour: boolean): Paint {
  if (!colour) return PLAIN;
  const { Chalk } = require('chalk') as typeof ChalkModule;
  const chalk: ChalkInstance = new Chalk({ level: 1 });
  return {
    bold: (text) => chalk.bold(text),
    dim: (text) => chalk.dim(text),
    good: (text) => chalk.green(text),
    warning: (text) => chalk.yellow(text),
    bad: (text) => chalk.red(text),
  };
}
