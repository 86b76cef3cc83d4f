import { NodeQuestions } from '../../adapters/dns/resolver-questions.ts';
import { parseServer } from '../../adapters/dns/server-address.ts';
import { nameServerOf } from '../../adapters/nameserver/zone.ts';
import type { Config } from '../settings/config.ts';
import { failed, ok, type Finding, type Look } from './finding.ts';

const perResolverMs = 4_000;

/** Asks each resolver for the name server of the challenge zone: it comes from ours, if the zone is delegated to it. */
export const checkZone =
  ({ acmeDnsZone: zone, dnsServers }: Config): Look =>
  async (signal) => {
    if (zone === undefined) return [];
    const end = AbortSignal.any([signal, AbortSignal.timeout(perResolverMs)]);
    const seen = await Promise.all(dnsServers.map((server) => nameServersOf(zone, server, end)));
    const lost = dnsServers.filter((_, at) => seen[at] !== nameServerOf(zone));
    return [
      lost.length === 0 ? ok(`The zone ${zone} leads to our name server.`) : notOurs(zone, lost),
    ];
  };

const nameServersOf = async (zone: string, server: string, end: AbortSignal): Promise<string> => {
  const questions = new NodeQuestions(parseServer(server), end);
  const answer = await questions.ask(async (its) => ({ items: await its.resolveNs(zone) }), end);
  return answer.kind === 'records' ? answer.records.join() : '';
};

const notOurs = (zone: string, lost: readonly string[]): Finding =>
  failed(
    `The zone ${zone} does not lead to our name server, says ${lost.join(', ')}. No certificate can be validated by DNS.`,
    `Run the role dns at a public address, and create the records of docs/operations.md, "Setting up the zone": ` +
      `${zone} NS ${nameServerOf(zone)}, and its addresses.`,
  );
