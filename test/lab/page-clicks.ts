import type { CaGate } from './authority/ca-gate.ts';
import { labIssuer, secondIssuer } from './authority/pebble-lab.ts';
import type { Records } from './dns/zone.ts';
import type { ShownDomain, ShownRecord } from './shop.ts';
import type { LabResolver } from './dns/resolver.ts';
import type { FakeClock } from './fake-clock.ts';
import { type CaFault, caPlaces } from './authority/gate-caa.ts';
import type { LabZone } from './dns/lab-zone.ts';

interface AuthorityChoice {
  readonly label: string;
  readonly faults: readonly CaFault[];
}

const limit = { type: 'rateLimited', detail: 'too many new orders' };

/** The ways in which a person can let an authority answer. */
export const authorityChoices = {
  works: { label: 'Works', faults: [] },
  hangs: { label: 'Hangs', faults: [{ match: /./, hang: true }] },
  trouble: {
    label: 'Answers 503',
    faults: [{ match: /./, status: 503, body: 'Try again later.' }],
  },
  limits: {
    label: 'Limits us for an hour',
    faults: [
      { match: caPlaces.newOrder, status: 429, problem: limit, headers: { 'retry-after': '3600' } },
    ],
  },
  cuts: { label: 'Cuts connections', faults: [{ match: /./, reset: true }] },
} as const satisfies Readonly<Record<string, AuthorityChoice>>;

type AuthorityChoiceName = keyof typeof authorityChoices;

interface CaaChoice {
  readonly label: string;
  readonly records: NonNullable<Records['CAA']>;
}

const issue = (value: string) => ({ tag: 'issue', value });
const issuewild = (value: string) => ({ tag: 'issuewild', value });

/** The CAA records that a person can choose in the lab, in addition to a zone file. */
export const caaChoices = {
  none: { label: 'No CAA record', records: [] },
  first: { label: 'Only the first authority', records: [issue(labIssuer)] },
  second: { label: 'Only the second authority', records: [issue(secondIssuer)] },
  nobody: { label: 'No authority', records: [issue(';')] },
  dns: { label: 'Only by DNS', records: [issue(`${labIssuer}; validationmethods=dns-01`)] },
  plain: { label: 'No wildcard', records: [issue(labIssuer), issuewild(';')] },
  wild: { label: 'Only wildcards', records: [issue(';'), issuewild(labIssuer)] },
  shared: {
    label: 'Wildcards by the second authority, others by the first',
    records: [issue(labIssuer), issuewild(secondIssuer)],
  },
} as const satisfies Readonly<Record<string, CaaChoice>>;

type CaaChoiceName = keyof typeof caaChoices;

/** @returns undefined for any other CAA record */
export const caaChoiceOf = (records: Records['CAA'] = []): CaaChoiceName | undefined => {
  const same = Object.entries(caaChoices).find(
    ([, choice]) => wordsOf(choice.records) === wordsOf(records),
  );
  return same?.[0] as CaaChoiceName | undefined;
};

const wordsOf = (records: NonNullable<Records['CAA']>): string =>
  records.map((one) => ('tag' in one ? `${one.tag} ${one.value}` : '?')).join();

/** An authority and its current behaviour. */
interface LabAuthority {
  readonly gate: CaGate;
  choice: AuthorityChoiceName;
}

/** Everything around the service that a person can change. */
export interface LabDesk {
  readonly zone: LabZone;
  readonly resolver: LabResolver;
  /** The preferred one first. */
  readonly authorities: readonly LabAuthority[];
  readonly clock: Pick<FakeClock, 'advance' | 'now'>;
  /** The domains of all projects that are not removed. */
  domains(): Promise<readonly ShownDomain[]>;
}

/** The action and its values when a button is pressed. */
type Click = (desk: LabDesk, ...words: string[]) => unknown;

const elsewhere = '192.0.2.1';

export const pointsAway = (records: Records | undefined): boolean =>
  records?.A?.includes(elsewhere) ?? false;

export const isCreated = (zone: LabZone, { fqdn, type, value }: ShownRecord): boolean =>
  zone.records[fqdn]?.[type]?.includes(value) ?? false;

const recordOf = async (desk: LabDesk, fqdn = '', type = ''): Promise<ShownRecord | undefined> =>
  (await desk.domains())
    .flatMap(({ records }) => records)
    .find((one) => one.fqdn === fqdn && one.type === type);

/** A name with a CNAME or an ALIAS has no other address. */
const routed = ({ A: _a, AAAA: _b, CNAME: _c, ALIAS: _d, ...others }: Records): Records => others;

const clicks = {
  create: async (desk, fqdn, type) => {
    const record = await recordOf(desk, fqdn, type);
    if (!record) return;
    const before = desk.zone.records[record.fqdn] ?? {};
    const kept = record.type === 'TXT' ? before : routed(before);
    desk.zone.set(record.fqdn, { ...kept, [record.type]: [record.value] });
  },
  delete: ({ zone }, fqdn = '') => {
    zone.remove(fqdn);
  },
  away: ({ zone }, host = '') => {
    zone.set(host, { ...routed(zone.records[host] ?? {}), A: [elsewhere] });
  },
  caa: ({ zone }, domain = '', choice = 'none') => {
    const { CAA: _, ...others } = zone.records[domain] ?? {};
    const CAA = caaChoices[choice as keyof typeof caaChoices].records;
    zone.set(domain, CAA.length > 0 ? { ...others, CAA } : others);
  },
  dnssec: ({ resolver }, word) => resolver.setBroken(word === 'broken'),
  authority: ({ authorities }, index, choice = 'works') => {
    const one = authorities[Number(index)];
    if (!one) return;
    one.choice = choice as AuthorityChoiceName;
    one.gate.setFaults(...authorityChoices[one.choice].faults);
  },
  later: ({ clock }, seconds) => clock.advance(Number(seconds)),
} satisfies Readonly<Record<string, Click>>;

export const click = async (desk: LabDesk, value: string): Promise<void> => {
  const [name = '', ...words] = value.split(' ');
  if (Object.hasOwn(clicks, name))
    await (clicks[name as keyof typeof clicks] as Click)(desk, ...words);
};
