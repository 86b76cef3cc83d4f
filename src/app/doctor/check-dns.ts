import { randomBytes } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { NodeQuestions, type Records } from '../../adapters/dns/resolver-questions.ts';
import { parseServer } from '../../adapters/dns/wire-questions.ts';
import { nameServerOf } from '../../adapters/nameserver/zone.ts';
import type { DnsAnswer } from '../../domains/domain/dns/facts.ts';
import type { Config } from '../settings/settings.ts';
import { failed, type Finding, type Look, ok, warning } from './finding.ts';

interface Answer {
  readonly server: string;
  readonly answers: readonly DnsAnswer<string>[];
}

const perResolverMs = 4_000;

export const checkDns =
  (config: Config): Look =>
  async (signal) => {
    const name = `doctor-${randomBytes(4).toString('hex')}.${config.platformHost}`;
    const end = AbortSignal.any([signal, AbortSignal.timeout(perResolverMs)]);
    const answers = await Promise.all(config.dnsServers.map((server) => ask(server, name, end)));
    return [resolversFinding(answers), zoneFinding(config, answers)];
  };

const ask = async (server: string, name: string, end: AbortSignal): Promise<Answer> => {
  const questions = new NodeQuestions(parseServer(server), end);
  const answers = await Promise.all([
    questions.ask(async (its) => plain(await its.resolve4(name)), end),
    questions.ask(async (its) => plain(await its.resolve6(name)), end),
  ]);
  return { server, answers };
};

const plain = (items: readonly string[]): Records<string> => ({
  items: items.map((one) => ipaddr.parse(one).toString()),
});

const isSilent = ({ answers }: Answer): boolean => answers.every(({ kind }) => kind === 'failed');

const resolversFinding = (answers: readonly Answer[]): Finding => {
  const silent = answers.filter(isSilent).map(({ server }) => server);
  const [all, well] = [String(answers.length), String(answers.length - silent.length)];
  if (silent.length === 0) return ok(`${all} of ${all} resolvers answer.`);
  const seen = `${well} of ${all} resolvers answer; ${silent.join(', ')} cannot be used.`;
  const advice = 'Allow UDP and TCP to port 53 of them, or set DNS_SERVERS to others.';
  return silent.length * 2 >= answers.length ? failed(seen, advice) : warning(seen, advice);
};

const zoneFinding = (config: Config, answers: readonly Answer[]): Finding => {
  const { platformHost, platformAddresses } = config;
  const isReal = config.production || config.acme !== undefined;
  const wanted = platformAddresses.map((one) => ipaddr.parse(one).toString()).toSorted();
  const found = [...new Set(answers.flatMap(addressesIn))].toSorted();
  if (found.join() === wanted.join()) {
    return ok(`Names below ${platformHost} lead to ${wanted.join(', ')}.`);
  }
  if (!isReal && found.length === 0) {
    return ok(`Names below ${platformHost} are not in DNS, which is fine for development.`);
  }
  const seen = `Names below ${platformHost} lead to ${found.join(', ') || 'nothing'}, not to ${wanted.join(', ')}.`;
  const advice = `Create the DNS records of *.${platformHost} with exactly these addresses, or correct PLATFORM_ADDRESSES.`;
  return isReal ? failed(seen, advice) : warning(seen, advice);
};

const addressesIn = ({ answers }: Answer): readonly string[] =>
  answers.flatMap((answer) => (answer.kind === 'records' ? answer.records : []));

/** Looks up the challenge zone's name server. Only our server answers, and only if the zone is delegated. */
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
    `According to ${lost.join(', ')}, the zone ${zone} does not lead to our name server. No certificate can be validated by DNS.`,
    `Run the role dns at a public address, and create the records of docs/certificates-and-dns.md, "Setting up the zone": ` +
      `${zone} NS ${nameServerOf(zone)}, and its addresses.`,
  );
