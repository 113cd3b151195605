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
    /** Changes until it is so; now and then the file is written anew. */
    const churn = async (isEnough: () => boolean): Promise<void> => {
      for (; !isEnough(); await sleep(TURN_MS)) {
        let text = '';
        for (let i = 0; i < EVENTS_A_TURN; i++) text += model.change();
        appendFileSync(log, text);
        if (Math.random() < 0.005) {
          writeFileSync(`${log}.new`, model.lines());
          renameSync(`${log}.new`, log);
        }
      }
    };
    const churnFor = (ms: number): Promise<void> => {
      const end = Date.now() + ms;
      return churn(() => Date.now() > end);
    };
    try {
      for (const endOfKills = Date.now() + SECONDS * 700; ; ) {
        await churnFor(2000 + Math.random() * Math.min(8000, SECONDS * 100));
        const { code, signal } = await listen.stop(Math.random() < 0.7 ? 'SIGKILL' : 'SIGTERM');
        // Nothing but what it was sent may end it.
        if (signal === null)
          expect({ code, stderr: listen.stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('Error:') });
        listen = start();
        if (Date.now() > endOfKills) break;
      }
      // The last part runs without a kill, so that growth would be seen.
      let isReady = false;
      const asked = listen.until('ready', async () => {
        isReady = (await listen.status()).ready;
        return isReady;
      });
      await Promise.all([asked, churn(() => isReady)]);
      await churnFor(Math.min(10_000, SECONDS * 100));
      const settled = held(listen);
      await churnFor(SECONDS * 200);
      const now = held(listen);
      expect(now.fds).toBeLessThanOrEqual(settled.fds + 2);
      expect(now.mebibytes).toBeLessThan(settled.mebibytes * 1.3 + 40);
      await expectEqual(listen, pin, model);
      expect(await listen.stop()).toEqual({ code: 0, signal: null });
    } finally {
      await listen.stop('SIGKILL');
    }
  },
  SECONDS * 1500 + 300_000,
);

async function expectEqual(listen: ListenProcess, pin: string, model: Model): Promise<void> {
  const all = model.addresses.size + model.networks.size;
  await listen.until(
    `${all} entries`,
    async () => {
      const { ready, entries, pending, queued, restore } = await listen.status();
      return ready && entries === all && pending === 0 && queued === 0 && restore?.placeholders === 0;
    },
    120_000,
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
