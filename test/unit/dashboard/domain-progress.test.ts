import { describe, expect, test } from '@jest/globals';
import {
  lossesOf,
  progressOf,
  progressOfHeldUp,
  sharedSentenceOf,
} from '../../../src/adapters/dashboard/domains/progress.ts';
import { stepsOf } from '../../../src/adapters/dashboard/domains/status.ts';
import { readyInWords } from '../../../src/app/commands/present-domain.ts';
import { attentionOf } from '../../../src/domains/domain/attachment/due-work.ts';
import {
  type CustomDomain,
  removeDomain,
} from '../../../src/domains/domain/attachment/custom-domain.ts';
import {
  type WantedWork,
  workOn,
} from '../../../src/domains/domain/certificates/certificate-status.ts';
import { dnsProblem, type DnsProblemCode } from '../../../src/domains/domain/dns/problem.ts';
import type { ResolverSummary } from '../../../src/domains/domain/dns/report.ts';
import {
  added,
  after,
  badReport,
  day,
  inEachState,
  live,
  minute,
  ordered,
  removed,
  validity,
  verified,
  withEveryWork,
} from '../../support/domains/known-domains.ts';

const now = after(5 * minute);

const standings = inEachState.flatMap((domain) => withEveryWork(domain));

test.each(standings)(
  '$state with certificate $certificate.kind, $certificate.work.step, has a status text',
  (standing) => {
    const { sentence, short, actor } = progressOf(standing, now);
    expect(sentence).toMatch(/^[A-Z].*\.$/);
    expect(short).toMatch(/^[A-Z].*[^.]$/);
    expect(['customer', 'us', 'nobody']).toContain(actor);
    const steps = stepsOf(standing, now).map((step) => step.standing);
    // Finished steps come first, then at most one that is under way or failed, then the remaining ones.
    expect(steps.join(' ')).toMatch(/^(done ?)*(now ?|failed ?)?(ahead ?)*$/);
  },
);

test.each(standings)(
  '$state with certificate $certificate.kind, $certificate.work.step, needs its owner exactly if the text says so',
  (standing) => {
    const { actor } = progressOf(standing, after(minute));
    const attention = attentionOf(standing);
    if (standing.state === 'removed') expect(attention).toBe('gone');
    else expect(['broken', 'wanted'].includes(attention)).toBe(actor === 'customer');
  },
);

const line = (domain: CustomDomain) => stepsOf(domain, now).map(({ standing }) => standing);

test("the step line shows the domain's state, and a removed domain has no step", () => {
  expect(line(added)).toEqual(['done', 'now', 'ahead', 'ahead']);
  expect(line(verified)).toEqual(['done', 'done', 'now', 'ahead']);
  expect(line(live)).toEqual(['done', 'done', 'done', 'done']);
  expect(line(removed)).toEqual([]);
});

test.each([
  ['shop.example.com', 'the TXT record'],
  ['*.shop.example.com', 'the CNAME record of _acme-challenge.shop.example.com'],
])('after %s was contested, the owner is told to create %s', (host, proof) => {
  const contested = removeDomain({ ...live, host }, 'contested', now).state;
  expect(progressOf(contested, now).sentence).toContain(`create ${proof}, which proves`);
});

const checked = (
  resolvers: readonly boolean[],
  codes: readonly DnsProblemCode[] = ['cname_missing'],
): CustomDomain => {
  const summary = (agrees: boolean): ResolverSummary => ({
    resolver: '192.0.2.53',
    tookMs: 1,
    seen: '',
    ttl: 60,
    agrees,
  });
  const problems = codes.map((code) => dnsProblem(code, { seen: 'x', wanted: 'y' }));
  const report = { ...badReport(now), problems, resolvers: resolvers.map(summary) };
  return { ...added, dns: { ...added.dns, report } };
};

test('a missing record is shown as awaited, not as a failure', () => {
  const awaited = checked([false, false, false]);
  expect(progressOf(awaited, now)).toMatchObject({ actor: 'customer', tone: 'busy' });
  expect(attentionOf(awaited)).toBe('wanted');
  expect(progressOf(awaited, now).short).toContain('CNAME record is missing');
  expect(progressOf(awaited, now).sentence).toContain('Create the records below');
  expect(line(awaited)).toEqual(['done', 'now', 'ahead', 'ahead']);
});

test('a wrong record asks its owner to act and says what is wrong, even next to a missing one', () => {
  const wrong = checked([false, false, false], ['ownership_txt_missing', 'cname_wrong_target']);
  expect(progressOf(wrong, now)).toMatchObject({ actor: 'customer', tone: 'bad' });
  expect(line(wrong)).toEqual(['done', 'failed', 'ahead', 'ahead']);
});

test('nobody has to act while a DNS change spreads', () => {
  const spreading = checked([true, false, false]);
  expect(progressOf(spreading, now)).toMatchObject({ actor: 'nobody', tone: 'busy' });
  expect(attentionOf(spreading)).toBe('none');
  expect(progressOf(spreading, now).sentence).toContain('1 of 3 resolvers returns');
  expect(progressOf(spreading, now).short).toBe('1 of 3 resolvers sees it');
  expect(line(spreading)).toEqual(['done', 'now', 'ahead', 'ahead']);
});

test.each(['dns_lookup_failed', 'dnssec_bogus'] as const)(
  '%s asks its owner to act, even if one resolver answers',
  (code) => {
    expect(progressOf(checked([true, false, false], [code]), now)).toMatchObject({
      actor: 'customer',
      tone: 'bad',
    });
  },
);

describe('a delegated name that points elsewhere', () => {
  const validation = { delegated: true, method: 'dns-01' } as const;
  const dns = { ...added.dns, report: { ...badReport(now), validation } };
  const [, wanted, failed] = withEveryWork(added).map((domain) => ({ ...domain, dns }));
  const certificates = withEveryWork(added).map((domain) => ({ ...domain, dns }));
  const issued = certificates.find(({ certificate }) => certificate.kind === 'issued')!;

  test('says that its certificate is ready and that the DNS should now point here', () => {
    expect(progressOf(issued, now)).toMatchObject({
      short: 'Certificate ready',
      actor: 'customer',
      tone: 'good',
      sentence: expect.stringContaining('point your DNS here whenever you like') as unknown,
    });
    const names = stepsOf(issued, now).map(({ name, standing }) => `${name} ${standing}`);
    expect(names).toEqual(['added done', 'certificate done', 'verified now', 'live ahead']);
  });

  test('is also shown as ready by the command line, until the certificate has expired', () => {
    expect(readyInWords(issued, now)).toContain('point your DNS here whenever you like');
    expect(readyInWords(issued, validity.notAfter)).toBeUndefined();
  });

  test('loses its visitors and its certificate when it is removed', () => {
    expect(lossesOf(issued).join(' ')).toMatch(/Visitors can no longer .* are destroyed/);
    expect(lossesOf(wanted!).join(' ')).toMatch(/no longer checked.* no certificate yet/);
  });

  test('asks only people who are signed in to press a button', () => {
    const texts = certificates.map((one) => String(sharedSentenceOf(one, now)));
    expect(texts.filter((text) => /\bpress\b/i.test(text))).toEqual([]);
  });

  test('is not shown as ready once the certificate has expired or the delegation is gone', () => {
    const gone = { ...issued, dns: { ...dns, report: badReport(now) } };
    const short = [progressOf(issued, after(91 * day)), progressOf(gone, now)].map(
      (progress) => progress.short,
    );
    expect(short).not.toContain('Certificate ready');
    expect(line(gone)).toEqual(['done', 'now', 'ahead', 'ahead']);
  });

  test('says that the certificate is being issued, or why not, and what to do', () => {
    expect(progressOf(wanted!, now)).toMatchObject({ actor: 'us', isWorkedOn: true });
    expect(progressOf(failed!, now).sentence).toContain('is not ready yet');
    const waits = certificates.find((one) => workOn(one)?.step === 'waits_for_owner')!;
    expect(progressOf(waits, now).sentence).toContain('press Verify');
  });

  test('waits for a limit like any other name', () => {
    const hold = { reason: 'exactName', nextAt: after(day) } as const;
    const told = progressOfHeldUp(wanted!, hold);
    expect(String(told?.sentence)).toMatch(/^The name is proven\. The certificate waits/);
    expect(progressOfHeldUp(issued, hold)).toBeUndefined();
  });
});

test('an order under way is shown as in progress', () => {
  expect(progressOf(ordered, now)).toMatchObject({ actor: 'us', isWorkedOn: true });
});

const seen = { seen: 'nothing', wanted: 'a certificate' };

/** The state after one attempt that failed with this problem. */
const failedWith = (code: DnsProblemCode, step: WantedWork['step']): CustomDomain =>
  withEveryWork(verified, dnsProblem(code, seen)).find(
    ({ certificate }) =>
      certificate.kind === 'wanted' && certificate.work.step === step && certificate.work.problem,
  )!;

test.each([
  ['ca_unavailable', 'us', 'now'],
  ['challenge_unreachable', 'customer', 'failed'],
] as const)('the page says after %s that %s must act', (code, actor, step) => {
  const failed = failedWith(code, 'planned');
  expect(progressOf(failed, now)).toMatchObject({ actor, isWorkedOn: false });
  expect(line(failed)[2]).toBe(step);
});

test('the page says to press the button when no automatic attempt is left', () => {
  const sentenceAt = (step: WantedWork['step']) =>
    progressOf(failedWith('ca_rejected_name', step), now).sentence;
  expect(sentenceAt('waits_for_owner')).toContain('Re-verify');
  expect(sentenceAt('waits_for_dns')).toContain('automatically');
});

test('the page says when a site will stop being served', () => {
  const endangered = { ...live, dns: { ...live.dns, report: badReport(now) } };
  expect(progressOf(endangered, now)).toMatchObject({ actor: 'customer', tone: 'bad' });
  const ended = progressOf(live, validity.notAfter);
  expect(ended.sentence).toContain('has expired');
  expect(stepsOf(live, validity.notAfter)[2]?.standing).toBe('failed');
});
