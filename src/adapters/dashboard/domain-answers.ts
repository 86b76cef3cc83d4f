import * as v from 'valibot';
import { html, nothing, type Html } from './html.ts';

/** As a check keeps what each resolver answered; see `ResolverFacts`. */
const answerOf = <Item extends v.GenericSchema<unknown, string>>(item: Item) =>
  v.variant('kind', [
    v.object({ kind: v.literal('records'), records: v.array(item), ttl: v.optional(v.number()) }),
    v.object({ kind: v.literal('none') }),
    v.object({ kind: v.literal('no_such_name') }),
    v.object({ kind: v.literal('failed'), reason: v.string() }),
  ]);

const name = answerOf(v.string());
const caaRecord = v.pipe(
  v.object({ flags: v.number(), tag: v.string(), value: v.string() }),
  v.transform(({ flags, tag, value }) => `${flags} ${tag} ${JSON.stringify(value)}`),
);

const answers = v.array(
  v.object({
    resolver: v.string(),
    tookMs: v.number(),
    cname: name,
    chain: v.object({ names: v.array(v.string()), end: v.string() }),
    a: name,
    aaaa: name,
    txt: name,
    sibling: name,
    isZoneApex: v.boolean(),
    caa: v.array(v.object({ name: v.string(), answer: answerOf(caaRecord) })),
  }),
);

type ResolverAnswers = v.InferOutput<typeof answers>[number];
type Answer = ResolverAnswers['cname'];

/** All that was answered in a check, question by question. @param kept as the timeline has it */
export const answersTable = (kept: unknown): Html => {
  if (kept === undefined) return nothing;
  const read = v.safeParse(answers, kept);
  // Kept by another release.
  if (!read.success) return folded(html`<pre>${JSON.stringify(kept, null, 2)}</pre>`);
  const resolvers = read.output;
  const rows = questionsOf(resolvers).map(
    ([question, answered]) =>
      html`<tr><th scope="row">${question}</th>${resolvers.map(
        (one) => html`<td data-label="${one.resolver}"><code>${answered(one)}</code></td>`,
      )}</tr>`,
  );
  return folded(html`<div class="table">
    <table class="cards-on-phone answers">
      <thead><tr><th scope="col">Question</th>${resolvers.map(({ resolver }) => html`<th scope="col">${resolver}</th>`)}</tr></thead>
      <tbody>${rows}</tbody>
    </table>
  </div>`);
};

const folded = (content: Html): Html =>
  html`<details><summary>Raw answers</summary>${content}</details>`;

type Question = readonly [question: string, answered: (one: ResolverAnswers) => string];

const questionsOf = (resolvers: readonly ResolverAnswers[]): readonly Question[] => {
  const levels = new Set(resolvers.flatMap(({ caa }) => caa.map(({ name: level }) => level)));
  return [
    ['CNAME', ({ cname }) => inText(cname)],
    ['CNAME chain', ({ chain }) => [...chain.names, chain.end].join(' → ')],
    ['A', ({ a }) => inText(a)],
    ['AAAA', ({ aaaa }) => inText(aaaa)],
    ['TXT (challenge)', ({ txt }) => inText(txt)],
    ...[...levels].map((level): Question => [`CAA ${level}`, ({ caa }) => caaAt(caa, level)]),
    ['A made-up name beside it', ({ sibling }) => inText(sibling)],
    ['SOA and NS at the name', ({ isZoneApex }) => (isZoneApex ? 'yes' : 'no')],
    ['Took', ({ tookMs }) => `${Math.round(tookMs)} ms`],
  ];
};

const caaAt = (levels: ResolverAnswers['caa'], level: string): string => {
  const found = levels.find(({ name: one }) => one === level);
  return found ? inText(found.answer) : 'not asked';
};

const inText = (answer: Answer): string => {
  switch (answer.kind) {
    case 'records': {
      const ttl = answer.ttl === undefined ? '' : ` (TTL ${answer.ttl})`;
      return `${answer.records.join(', ')}${ttl}`;
    }
    case 'none':
      return 'none';
    case 'no_such_name':
      return 'no such name';
    case 'failed':
      return answer.reason;
  }
};
