import { randomInt } from 'node:crypto';
import { openFuzzField } from './fuzz-field.ts';
import type { FuzzTally } from './fuzz-tally.ts';
import { reproduce, showCase } from './reproduce.ts';
import { runFuzz, type FuzzOrders, type FuzzReport } from './run-fuzz.ts';

// `make fuzz [SEED=n] [REQUESTS=n] [ONLY=n]`: long; the short form is test/release/fuzz.test.ts.
const domains = 40;

const numberIn = (name: string): number | undefined => {
  const text = process.env[name] ?? '';
  if (text === '') return undefined;
  if (/^\d{1,10}$/.test(text)) return Number(text);
  process.stderr.write(`${name} must be a whole number, like 12; it is "${text}".\n`);
  process.exit(2);
};

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const started = performance.now();
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
  say('looking for the smallest case that leads there …');
  const smallest = await reproduce(finding, domains);
  if (smallest) say(showCase(smallest));
  else say('None of the last cases leads there by itself. The latest:');
  if (!smallest) for (const one of finding.cases.slice(-3)) say(showCase(one));
  say(`Again: make fuzz SEED=${seed}${only === undefined ? '' : ` ONLY=${only}`}`);
};

const only = numberIn('ONLY');
const orders: FuzzOrders = {
  seed: numberIn('SEED') ?? randomInt(2 ** 31),
  requests: numberIn('REQUESTS') ?? 100_000,
  ...(only !== undefined && { only }),
};
say(`seed ${orders.seed}, ${orders.requests} requests`);
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
