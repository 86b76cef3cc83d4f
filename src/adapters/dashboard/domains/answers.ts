import * as v from 'valibot';
import {
  chainEnds,
  dnsFailures,
  type CaaRecord,
  andMore,
} from '../../../domains/domain/dns/facts.ts';
import type { KeptAnswer, KeptFacts } from '../../../domains/domain/dns/judgement.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { table, type Column } from '../frame/table.ts';

const more = v.optional(v.number());

/** As a check keeps what each resolver answered; see `KeptFacts`. */
const answerOf = <Item extends v.GenericSchema>(item: Item) =>
  v.variant('kind', [
    v.object({
      kind: v.literal('records'),
      records: v.array(item),
      ttl: v.optional(v.number()),
      more,
    }),
    v.object({ kind: v.literal('none') }),
    v.object({ kind: v.literal('no_such_name') }),
    v.object({ kind: v.literal('failed'), reason: v.picklist(dnsFailures) }),
  ]);

const name = answerOf(v.string());
const caaRecord = v.object({ flags: v.number(), tag: v.string(), value: v.string() });

const answers = v.array(
  v.object({
    resolver: v.string(),
    tookMs: v.number(),
    cname: name,
    chain: v.object({ names: v.array(v.string()), end: v.picklist(chainEnds), more }),
    a: name,
    aaaa: name,
    txt: name,
    sibling: name,
    delegation: v.optional(name),
    isZoneApex: v.boolean(),
    caa: v.array(v.object({ name: v.string(), answer: answerOf(caaRecord) })),
    zone: v.optional(v.object({ name: v.string(), nameServers: v.array(v.string()) })),
    unchecked: v.optional(
      v.object({
        question: v.string(),
        errors: v.array(v.object({ code: v.number(), text: v.string() })),
      }),
    ),
  }),
);

/** All that was answered in a check, question by question. @param kept as the timeline has it */
export const answersTable = (kept: unknown): Html => {
  if (kept === undefined) return nothing;
  const read = v.safeParse(answers, kept);
  // A newer version may keep them in another form.
  if (!read.success) return nothing;
  const resolvers: readonly KeptFacts[] = read.output;
  const columns = resolvers.map((one): Column<Question> => [
    one.resolver,
    'text',
    ([, answered]) => html`<code>${answered(one)}</code>`,
  ]);
  const all = table(
    questionsOf(resolvers),
    [['Question', 'row', ([question]) => question], ...columns],
    { look: 'tops' },
  );
  return html`<details><summary>Raw answers</summary>${all}</details>`;
};

type Question = readonly [question: string, answered: (one: KeptFacts) => string];

const questionsOf = (resolvers: readonly KeptFacts[]): readonly Question[] => {
  const levels = new Set(resolvers.flatMap(({ caa }) => caa.map(({ name: level }) => level)));
  return [
    ['CNAME', ({ cname }) => inText(cname)],
    ['CNAME chain', ({ chain }) => [...chain.names, ...leftOut(chain), chain.end].join(' → ')],
    ['A', ({ a }) => inText(a)],
    ['AAAA', ({ aaaa }) => inText(aaaa)],
    ['TXT (challenge)', ({ txt }) => inText(txt)],
    ...(resolvers.some(({ delegation }) => delegation)
      ? [
          [
            'CNAME (_acme-challenge)',
            ({ delegation }) => (delegation ? inText(delegation) : ''),
          ] as const satisfies Question,
        ]
      : []),
    ...[...levels].map((level): Question => [`CAA ${level}`, ({ caa }) => caaAt(caa, level)]),
    ...(resolvers.some(({ unchecked }) => unchecked)
      ? [
          [
            'Answered only without DNSSEC',
            ({ unchecked }) => (unchecked ? uncheckedText(unchecked) : 'no'),
          ] as const satisfies Question,
        ]
      : []),
    ['A made-up name beside it', ({ sibling }) => inText(sibling)],
    ...(resolvers.some(({ zone }) => zone)
      ? [
          [
            'Zone and its name servers',
            ({ zone }) => (zone ? `${zone.name}: ${zone.nameServers.join(', ')}` : 'not found'),
          ] as const satisfies Question,
        ]
      : []),
    ['SOA and NS at the name', ({ isZoneApex }) => (isZoneApex ? 'yes' : 'no')],
    ['Took', ({ tookMs }) => `${Math.round(tookMs)} ms`],
  ];
};

const caaAt = (levels: KeptFacts['caa'], level: string): string => {
  const found = levels.find(({ name: one }) => one === level);
  return found ? inText(found.answer, caaText) : 'not asked';
};

const caaText = ({ flags, tag, value }: CaaRecord): string =>
  `${flags} ${tag} ${JSON.stringify(value)}`;

const uncheckedText = ({ question, errors }: NonNullable<KeptFacts['unchecked']>): string =>
  [question, ...errors.map(({ code, text }) => `extended error ${code} ${text}`)].join('; ');

const inText = <Item = string>(
  answer: KeptAnswer<Item>,
  textOf: (record: Item) => string = String,
): string => {
  switch (answer.kind) {
    case 'records': {
      const ttl = answer.ttl === undefined ? '' : ` (TTL ${answer.ttl})`;
      return `${[...answer.records.map(textOf), ...leftOut(answer)].join(', ')}${ttl}`;
    }
    case 'none':
      return 'none';
    case 'no_such_name':
      return 'no such name';
    case 'failed':
      return answer.reason;
  }
};

const leftOut = ({ more: count }: { readonly more?: number | undefined }): readonly string[] =>
  count === undefined ? [] : [andMore(count)];
