/**
 * Another process that keeps changing a trie: node churn.cjs PIN KEYS CHANGES_PER_SECOND. It inserts and deletes odd
 * addresses of 10.0.0.0/8 until its standard input ends, then prints how many changes it made.
 */
import { BpfAttr } from '../../../src/lib/native/attr.ts';
import { LinuxKernel } from '../../../src/lib/native/linux-kernel.ts';

const BPF_OBJ_GET = 7;
const BPF_MAP_UPDATE_ELEM = 2;
const BPF_MAP_DELETE_ELEM = 3;

const [pin = '', keys = '1', rate = '1'] = process.argv.slice(2);
const kernel = new LinuxKernel();
const fd = kernel.bpf(BPF_OBJ_GET, new BpfAttr().cstring(0, pin));
if (fd < 0) throw new Error(`cannot open ${pin}: errno ${-fd}`);
const key = Buffer.from('40000000000000010a000000000000000000000000000000', 'hex');
const value = Buffer.alloc(24, 0xee);
const update = new BpfAttr().u32(0, fd).ptr(8, key).ptr(16, value).u64(24, 0);
const remove = new BpfAttr().u32(0, fd).ptr(8, key);

const start = process.hrtime.bigint();
let changes = 0;
let open = true;
process.stdin.on('end', () => {
  open = false;
});
process.stdin.resume();

function churn(): void {
  const due = (Number(process.hrtime.bigint() - start) / 1e9) * Number(rate);
  for (const until = Math.min(due, changes + 2000); changes < until; changes++) {
    key.writeUInt32BE(0x0a000000 + 2 * Math.floor(Math.random() * Number(keys)) + 1, 8);
    if (changes % 2 === 0) kernel.bpf(BPF_MAP_UPDATE_ELEM, update);
    else kernel.bpf(BPF_MAP_DELETE_ELEM, remove);
  }
  if (open) setImmediate(churn);
  else process.stdout.write(`${changes} ${Number(process.hrtime.bigint() - start) / 1e9}\n`);
}
churn();
