import { randomInt } from 'node:crypto';
import { fuzzPackets } from './dns-packets.ts';

// A part of `make fuzz`: long; the short form is test/unit/nameserver/any-packet.test.ts.
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const numberIn = (name: string): number | undefined => {
  const text = process.env[name] ?? '';
  return text === '' ? undefined : Number(text);
};

const seed = numberIn('SEED') ?? randomInt(2 ** 31);
const packets = numberIn('PACKETS') ?? 1_000_000;
say(`seed ${seed}, ${packets} packets to the name server`);
const started = performance.now();
const { finding, tally } = await fuzzPackets(seed, packets);
const seconds = (performance.now() - started) / 1000;
const codes = [...tally.codes].toSorted().map(([code, count]) => `${code}: ${count}`);
say(`answered ${tally.answered} (by code ${codes.join(', ')}), ignored ${tally.ignored}`);
say(`${Math.round(packets / seconds)} packets/s, each over UDP and TCP`);
if (finding) {
  say(`\nFOUND: ${finding.what}\n${finding.packet}\nAgain: make fuzz SEED=${seed}`);
  process.exitCode = 1;
}
