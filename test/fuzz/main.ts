import { randomInt } from 'node:crypto';
import { fuzzPackets } from './dns-packets.ts';
import { openFuzzField } from './fuzz-field.ts';
import { type FuzzTally, runFuzz, type FuzzOrders, type FuzzReport } from './run-fuzz.ts';
import { reproduce, showCase } from './reproduce.ts';

// `make fuzz [SEED=n] [PACKETS=n] [REQUESTS=n] [ONLY=n]`: long; the short forms are test/release/fuzz.test.ts and
// test/unit/nameserver/any-packet.test.ts.
const domains = 40;

const numberIn = (name: string): number | undefined => {
  const text = process.env[name] ?? '';
  if (text === '') return undefined;
  if (/^\d{1,10}$/.test(text)) return Number(text);
  process.stderr.write(`${name} must be a whole number, like 12; it is "${text}".\n`);
  process.exit(2);
};

const say = (text: string): void => void process.stdout.write(`${text}\n`);

let started = performance.now();
const seconds = (): number => (performance.now() - started) / 1000;
const rate = ({ requests }: FuzzTally): string => `${Math.round(requests / seconds())} requests/s`;

const everyMs = 5_000;
let toldAt = 0;
const tellProgress = (tally: FuzzTally): void => {
  if (performance.now() - toldAt < everyMs) return;
  toldAt = performance.now();
  say(`${Math.round(seconds())} s: ${tally.requests} requests, ${rate(tally)}`);
};

const tellFinding = async ({ seed, finding, only }: FuzzReport): Promise<void> => {
  if (!finding) return;
  say(`\nFOUND: ${finding.what}`);
  if (finding.cases.length === 1) for (const one of finding.cases) say(showCase(one));
  say('looking for a case that leads there alone …');
  const alone = await reproduce(finding, domains);
  if (alone) say(showCase(alone));
  else say('None of the last cases leads there by itself. The latest:');
  if (!alone) for (const one of finding.cases.slice(-3)) say(showCase(one));
  say(`Again: make fuzz SEED=${seed}${only === undefined ? '' : ` ONLY=${only}`}`);
};

const seed = numberIn('SEED') ?? randomInt(2 ** 31);
const only = numberIn('ONLY');

const packets = numberIn('PACKETS') ?? 1_000_000;
say(`seed ${seed}, ${packets} packets to the name server`);
const { finding, tally } = await fuzzPackets(seed, packets);
const codes = [...tally.codes].toSorted().map(([code, count]) => `${code}: ${count}`);
say(`answered ${tally.answered} (by code ${codes.join(', ')}), ignored ${tally.ignored}`);
say(`${Math.round(packets / seconds())} packets/s, each over UDP and TCP`);
if (finding) {
  say(`\nFOUND: ${finding.what}\n${finding.packet}\nAgain: make fuzz SEED=${seed}`);
  process.exit(1);
}

const orders: FuzzOrders = {
  seed,
  requests: numberIn('REQUESTS') ?? 100_000,
  ...(only !== undefined && { only }),
};
started = performance.now();
say(`seed ${seed}, ${orders.requests} requests`);
const fuzz = async () => {
  const field = await openFuzzField(domains);
  try {
    return await runFuzz(field, orders, tellProgress);
  } finally {
    await field.close();
  }
};
const report = await fuzz();
say(`\n${report.tally.table()}`);
say(`${report.tally.requests} requests in ${Math.round(seconds())} s, ${rate(report.tally)}`);
say(`longest /healthz: ${Math.round(report.worstHealthMs)} ms`);
await tellFinding(report);
process.exitCode = report.finding ? 1 : 0;
