import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { DirectJudge } from '../../support/domains/direct-judge.ts';
import { judgingLimits, ThreadedJudge } from '../../../src/adapters/threads/threaded-judge.ts';
import type { DnsFacts } from '../../../src/domains/domain/dns/facts.ts';
import { judgementOn } from '../../../src/domains/domain/dns/judgement.ts';
import type { DnsJudge } from '../../../src/domains/ports.ts';
import { closeLabs, domainLab, host as shop } from '../../support/domains/domain-lab.ts';
import { hour, minute } from '../../support/domains/known-domains.ts';
import {
  asked,
  checkedAt,
  cname,
  expectation,
  host,
  ownership,
  records,
  timeout,
} from '../../support/domains/known-dns.ts';

const threaded = new ThreadedJudge(
  new URL('../../../src/app/threads/judge-dns.ts', import.meta.url),
);
const endless = new ThreadedJudge(new URL('../../support/endless-thread.ts', import.meta.url), {
  ...judgingLimits,
  deadlineMs: 200,
});
afterAll(() => Promise.all([threaded.close(), endless.close()]));
afterEach(closeLabs);

const cases: readonly (readonly [string, DnsFacts])[] = [
  ['that are right', asked(cname('t1.sites.test'), cname('t1.sites.test'))],
  ['that are missing', asked({}, {}, {})],
  ['that disagree', asked(cname('t1.sites.test'), { txt: ownership }, { cname: timeout })],
  [
    'with a CAA record',
    asked({
      caa: [{ name: host, answer: records({ flags: 0, tag: 'issue', value: 'other.test' }) }],
    }),
  ],
];

const judgeContract = (judge: DnsJudge): void => {
  test.each(cases)('judges answers %s by the rules', async (_, known) => {
    expect(await judge.judge(known, expectation)).toEqual(judgementOn(known, expectation));
  });

  test('judges many at a time', async () => {
    const [[, known]] = cases as [(typeof cases)[number]];
    const judgements = await Promise.all(
      Array.from({ length: 200 }, () => judge.judge(known, expectation)),
    );
    expect(new Set(judgements.map(({ report }) => report.verifiable))).toEqual(new Set([true]));
  });
};

describe('judging in the calling thread', () => {
  judgeContract(new DirectJudge());
});
describe('judging in a thread of its own', () => {
  judgeContract(threaded);
});

test('answers that take too long to judge count as a failed lookup', async () => {
  const known = asked(cname('t1.sites.test'), {});
  const { report } = await endless.judge(known, expectation);
  expect(report).toMatchObject({ checkedAt, verifiable: false, pointsHere: false });
  expect(report.problems.map(({ code }) => code)).toEqual(['dns_lookup_failed']);
  expect(report.resolvers.map(({ agrees }) => agrees)).toEqual([false, false]);
});

test('a domain whose answers take too long to judge is checked again later, and then verified', async () => {
  const { add, clock, current, point, tendDue } = await domainLab();
  const domain = await add();
  point(domain);
  clock.advance(minute);
  await tendDue({ judge: endless });
  const unjudged = await current(domain);
  expect(unjudged.state).toBe('added');
  expect(unjudged.host).toBe(shop);
  expect(unjudged.dns.report?.problems[0]?.code).toBe('dns_lookup_failed');
  clock.advance(hour);
  await tendDue({ judge: threaded });
  expect((await current(domain)).state).toBe('live');
});
