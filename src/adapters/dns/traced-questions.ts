import type { DnsAnswer } from '../../domains/domain/dns/facts.ts';
import type { Step, Tracer } from '../../kernel/tracer.ts';
import type { Questions } from './resolver-questions.ts';
import type { ServerAddress } from './server-address.ts';

const types = {
  a: 'A',
  aaaa: 'AAAA',
  cname: 'CNAME',
  txt: 'TXT',
  caa: 'CAA',
  ns: 'NS',
  soa: 'SOA',
} as const satisfies Record<Exclude<keyof Questions, 'unchecked'>, string>;

/** Each question is a step, with all its tries. What the answer says is left out. */
export const tracedQuestions = (
  ask: Questions,
  tracer: Tracer,
  { ip, port }: ServerAddress,
): Questions => {
  const traced =
    <Item>(type: keyof typeof types, question: (name: string) => Promise<DnsAnswer<Item>>) =>
    (name: string): Promise<DnsAnswer<Item>> =>
      tracer.step(stepOf(types[type], name, { ip, port }), async (span) => {
        const answer = await question(name);
        span.tell({ 'animal_store.dns.outcome': answer.kind });
        if (answer.kind === 'failed') span.fail(answer.reason);
        return answer;
      });
  return {
    a: traced('a', (name) => ask.a(name)),
    aaaa: traced('aaaa', (name) => ask.aaaa(name)),
    cname: traced('cname', (name) => ask.cname(name)),
    txt: traced('txt', (name) => ask.txt(name)),
    caa: traced('caa', (name) => ask.caa(name)),
    ns: traced('ns', (name) => ask.ns(name)),
    soa: traced('soa', (name) => ask.soa(name)),
    unchecked: (question) =>
      tracer.step(stepOf(question.type, question.name, { ip, port }), async (span) => {
        const answer = await ask.unchecked(question);
        span.tell({ 'animal_store.dns.outcome': answer ? 'only_unchecked' : 'not_bogus' });
        return answer;
      }),
  };
};

const stepOf = (type: string, name: string, { ip, port }: ServerAddress): Step => ({
  name: `DNS ${type}`,
  kind: 'client',
  facts: {
    'dns.question.name': name,
    'animal_store.dns.question.type': type,
    'server.address': ip,
    'server.port': port,
  },
});
