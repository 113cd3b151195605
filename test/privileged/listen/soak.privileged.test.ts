/** Random changes, random kills and restarts, for IPC_TEST_SECONDS: in the end the map is what the sources say. */
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type InstalledProgram, installProgram } from '../../support/installed-program.ts';
import { ListenProcess, mapWords } from '../../support/listen-process.ts';
import { type PinDirectory, pinDirectory } from '../../support/real-kernel.ts';

const SECONDS = Number(process.env.IPC_TEST_SECONDS ?? 30);
const ADDRESSES = 3000;
const NETWORKS = 60;
const EVENTS_A_TURN = 40;
const TURN_MS = 20;

let program: InstalledProgram;
let directory: PinDirectory;
const scratch = mkdtempSync(path.join(tmpdir(), 'ipc-soak-'));
const log = path.join(scratch, 'events.ndjson');

beforeAll(() => {
  program = installProgram();
  directory = pinDirectory('soak');
});
afterAll(() => {
  program[Symbol.dispose]();
  directory[Symbol.dispose]();
  rmSync(scratch, { recursive: true });
});

/** What the sources say, and the lines that say it. */
class Model {
  readonly addresses = new Map<string, number>();
  /** Network → its label set; every set is one identity. */
  readonly networks = new Map<string, string>();

  change(): string {
    return Math.random() < 0.9 ? this.#changeAddress() : this.#changeNetwork();
  }

  /** Everything at once, as a file that is written anew. */
  lines(): string {
    const addresses = [...this.addresses].map(([address, identity]) => upsert(address, identity));
    return [...addresses, ...[...this.networks].map(([network, label]) => metadata(network, label))].join('');
  }

  #changeAddress(): string {
    const n = Math.floor(Math.random() * ADDRESSES);
    const address = `10.${n >> 8}.0.${n & 255}`;
    const present = this.addresses.get(address);
    if (present !== undefined && Math.random() < 0.4) {
      this.addresses.delete(address);
      return line({ op: 'delete', prefix: address, expectIdentity: present, source: 'kvstore' });
    }
    const identity = 1000 + Math.floor(Math.random() * 500);
    this.addresses.set(address, identity);
    return upsert(address, identity);
  }

  #changeNetwork(): string {
    const network = `172.16.${Math.floor(Math.random() * NETWORKS)}.0/24`;
    if (this.networks.has(network) && Math.random() < 0.3) {
      this.networks.delete(network);
      return line({ op: 'removeMetadata', prefix: network, resource: 'cnp/soak/policy', what: ['labels'] });
    }
    const label = `fqdn:host-${Math.floor(Math.random() * 10)}`;
    this.networks.set(network, label);
    return metadata(network, label);
  }
}

function line(event: object): string {
  return `${JSON.stringify(event)}\n`;
}

function upsert(prefix: string, identity: number): string {
  return line({ op: 'upsert', prefix, identity, source: 'kvstore' });
}

function metadata(prefix: string, label: string): string {
  return line({
    op: 'upsertMetadata',
    prefix,
    resource: 'cnp/soak/policy',
    source: 'generated',
    labels: [label, 'reserved:world-ipv4'],
  });
}

/** What a process holds: descriptors and resident MiB. */
function held(listen: ListenProcess): { readonly fds: number; readonly mebibytes: number } {
  const { pid } = listen.child;
  const rss = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { fds: readdirSync(`/proc/${pid}/fd`).length, mebibytes: Number(rss) / 1024 };
}

it(
  'random changes with random kills end with the map that the sources describe, and nothing grows',
  async () => {
    const pin = `${directory.path}/map`;
    const model = new Model();
    writeFileSync(log, '');
    const start = (): ListenProcess =>
      new ListenProcess({ program, pin, scratch, sources: [`ndjson:${log}`], args: ['--grace-period', '2s', '-q'] });
    let listen = start();
    let restarts = 0;
    let settled: ReturnType<typeof held> | undefined;
    let killAt = Date.now() + 4000;
    let settleAt = Date.now() + 6000;
    for (const end = Date.now() + SECONDS * 1000; Date.now() < end; await sleep(TURN_MS)) {
      let text = '';
      for (let i = 0; i < EVENTS_A_TURN; i++) text += model.change();
      appendFileSync(log, text);
      if (Math.random() < 0.005) {
        writeFileSync(`${log}.new`, model.lines());
        renameSync(`${log}.new`, log);
      }
      if (Date.now() > settleAt) settled ??= held(listen);
      // The last part runs without a kill, so that growth would be seen.
      if (Date.now() < killAt || Date.now() > end - SECONDS * 300) continue;
      const { signal } = await listen.stop(Math.random() < 0.7 ? 'SIGKILL' : 'SIGTERM');
      if (signal === null) expect(listen.stderr).not.toContain('Error:');
      listen = start();
      restarts++;
      settled = undefined;
      settleAt = Date.now() + 6000;
      killAt = Date.now() + 2000 + Math.random() * 8000;
    }
    try {
      expect(restarts).toBeGreaterThan(0);
      const now = held(listen);
      expect(settled).toBeDefined();
      expect(now.fds).toBeLessThanOrEqual((settled?.fds ?? 0) + 2);
      expect(now.mebibytes).toBeLessThan((settled?.mebibytes ?? 0) * 1.3 + 40);
      await expectEqual(listen, pin, model);
      expect(await listen.stop()).toEqual({ code: 0, signal: null });
    } finally {
      await listen.stop('SIGKILL');
    }
  },
  SECONDS * 1000 + 180_000,
);

async function expectEqual(listen: ListenProcess, pin: string, model: Model): Promise<void> {
  const all = model.addresses.size + model.networks.size;
  await listen.until(
    `${all} entries`,
    async () => {
      const { ready, entries, pending, queued, restore } = await listen.status();
      return ready && entries === all && pending === 0 && queued === 0 && restore?.placeholders === 0;
    },
    60_000,
  );
  await listen.http('POST', '/ipc/v1/gc');
  const words = await mapWords(pin);
  const direct = Object.fromEntries(
    [...model.addresses].map(([address, identity]) => [`${address}/32`, `${identity}`]),
  );
  const found = Object.entries(words).filter(([prefix]) => prefix.startsWith('10.'));
  expect(Object.fromEntries(found)).toEqual(direct);
  // Equal labels are one number, different ones are two.
  const numbers = new Map<string, string>();
  for (const [network, label] of model.networks) {
    const number = words[network];
    expect(number, network).toMatch(/^1677\d{4}$/);
    expect(numbers.get(label) ?? number, label).toBe(number);
    numbers.set(label, number ?? '');
  }
  expect(new Set(numbers.values()).size).toBe(numbers.size);
  expect(Object.keys(words)).toHaveLength(all);
}
