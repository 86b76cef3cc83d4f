import type { ShownDomain, ShownRecord } from '../shown-domain.ts';
import type { CaGate } from '../authority/ca-gate.ts';
import type { LabZone } from '../dns/lab-zone.ts';
import type { LabResolver } from '../dns/resolver.ts';
import type { Records } from '../dns/zone.ts';
import type { FakeClock } from '../fake-clock.ts';
import { authorityChoices, type AuthorityChoiceName } from './authority-choices.ts';
import { caaChoices } from './caa-choices.ts';

/** An authority, and how it answers now. */
interface LabAuthority {
  readonly gate: CaGate;
  choice: AuthorityChoiceName;
}

/** Everything that a person changes around the service. */
export interface LabDesk {
  readonly zone: LabZone;
  readonly resolver: LabResolver;
  /** The preferred one first. */
  readonly authorities: readonly LabAuthority[];
  readonly clock: Pick<FakeClock, 'advance' | 'now'>;
  /** Those of all projects that are not removed. */
  domains(): Promise<readonly ShownDomain[]>;
}

/** What a button says when it is pressed: what to do, and with what. */
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

/** Does what a button says. */
export const click = async (desk: LabDesk, value: string): Promise<void> => {
  const [name = '', ...words] = value.split(' ');
  if (Object.hasOwn(clicks, name))
    await (clicks[name as keyof typeof clicks] as Click)(desk, ...words);
};
