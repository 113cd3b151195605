/** Costs of commands, measured in turn so that a slow moment of the machine hits all of them alike. */
import { spawnSync } from 'node:child_process';

export interface Subject {
  readonly name: string;
  readonly argv: readonly string[];
  /** Exit statuses that are no failure. */
  readonly expect?: readonly number[];
  /** Called before each run. */
  readonly prepare?: () => void;
}

export interface Cost {
  readonly name: string;
  /** Milliseconds, the best run's. */
  readonly wall: number;
  readonly medianWall: number;
  /** User and system milliseconds, the best run's. */
  readonly cpu: number;
  /** MiB, the largest of all runs. */
  readonly memory: number;
}

interface Run {
  readonly wall: number;
  readonly cpu: number;
  readonly memory: number;
}

/** @param runner the compiled measure.c. @returns a cost for each subject, in their order. */
export function measureInTurn(runner: string, subjects: readonly Subject[], rounds: number): Cost[] {
  const runs = subjects.map((): Run[] => []);
  for (let round = 0; round < rounds; round++) {
    subjects.forEach((subject, i) => {
      subject.prepare?.();
      runs[i]?.push(runOnce(runner, subject));
    });
  }
  return subjects.map(({ name }, i) => summarise(name, runs[i] ?? []));
}

/** How many times the one took what the other took, by their best runs. */
export function ratio(cost: Cost, to: Cost, field: 'wall' | 'cpu' = 'wall'): number {
  return cost[field] / to[field];
}

function runOnce(runner: string, { name, argv, expect = [0] }: Subject): Run {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const { stdout, status, error } = spawnSync(runner, argv, { encoding: 'utf8', env });
  const [wall = 0, cpu = 0, kib = 0, exit = -1] = stdout?.split(' ').map(Number) ?? [];
  if (error !== undefined || status !== 0 || !expect.includes(exit)) {
    throw new Error(`${name} ended with status ${exit}: ${argv.join(' ')}`);
  }
  return { wall, cpu, memory: kib / 1024 };
}

function summarise(name: string, runs: readonly Run[]): Cost {
  const walls = runs.map(({ wall }) => wall).sort((a, b) => a - b);
  return {
    name,
    wall: walls[0] ?? Number.NaN,
    medianWall: walls[walls.length >> 1] ?? Number.NaN,
    cpu: Math.min(...runs.map(({ cpu }) => cpu)),
    memory: Math.max(...runs.map(({ memory }) => memory)),
  };
}
