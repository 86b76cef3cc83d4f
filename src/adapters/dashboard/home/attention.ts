import { attentionAt, attentionOf } from '../../../domains/domain/attachment/due-work.ts';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import type { DomainOverview } from '../../../domains/ports.ts';
import type { Site } from '../../../sites/domain/site.ts';
import { domainPath, domainsPath } from '../domains/paths.ts';
import { progressOf } from '../domains/progress.ts';
import { nameInText } from '../../../domains/domain/names/hostname.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { counted, day, end, time } from '../frame/parts.ts';

interface FirstStep {
  readonly text: string;
  readonly to: string | undefined;
  readonly isDone: boolean;
}

export const firstSteps = (
  sites: readonly Site[],
  { attached, live }: DomainOverview,
  isKeyMade: boolean,
): Html => {
  const deployed = sites.find(({ servedDeployId }) => servedDeployId !== undefined);
  const slug = (deployed ?? sites[0])?.project.slug;
  const steps: readonly FirstStep[] = [
    { text: 'Create a project', to: undefined, isDone: sites.length > 0 },
    {
      text: 'Deploy its site',
      to: slug && `/dashboard/projects/${slug}`,
      isDone: deployed !== undefined,
    },
    {
      text: 'Add a domain of your own',
      to: deployed && slug && domainsPath(slug),
      isDone: attached.size > 0,
    },
    {
      text: 'Create its DNS records, and see it go live',
      to: attached.size > 0 && slug ? domainsPath(slug) : undefined,
      isDone: live > 0,
    },
    { text: 'Create an API key for your animals', to: '/dashboard/keys', isDone: isKeyMade },
  ];
  if (steps.every(({ isDone }) => isDone)) return nothing;
  const next = steps.findIndex(({ isDone }) => !isDone);
  return html`<section class="card" aria-labelledby="first-steps">
    <h2 id="first-steps">First steps</h2>
    <ol class="first-steps">${steps.map((step, at) => firstStep(step, at === next))}</ol>
  </section>`;
};

const firstStep = ({ text, to, isDone }: FirstStep, isNext: boolean): Html =>
  html`<li class="${isDone ? 'done good' : ''}" ${isNext && html`aria-current="step"`}>${isDone || to === undefined ? html`<span>${text}</span>` : html`<a href="${to}">${text}</a>`}<span class="visually-hidden">${isDone ? ' (done)' : ' (not done yet)'}</span></li>`;

export const needsYou = (
  sites: readonly Site[],
  { wanting, wantingInAll }: DomainOverview,
  now: Date,
): Html => {
  const slugs = new Map(sites.map(({ project: { id, slug } }) => [id, slug]));
  const failed = sites.filter(({ deploys: [newest] }) => newest?.state === 'failed');
  const items = [
    ...wanting.filter((domain) => attentionOf(domain) === 'broken').map(ofDomain(slugs, now)),
    ...failed.slice(0, 3).map(ofDeploy),
    ...wanting.filter((domain) => attentionOf(domain) !== 'broken').map(ofDomain(slugs, now)),
  ];
  if (items.length === 0) return nothing;
  const more = wantingInAll - wanting.length + Math.max(0, failed.length - 3);
  return html`<section class="stack" aria-labelledby="needs-you">
    <h2 id="needs-you">Needs you</h2>
    <ul class="needs">${items}</ul>
    ${more > 0 && html`<p class="hint">And ${counted(more, 'more', 'more')}: see the domains of each project.</p>`}
  </section>`;
};

const ofDomain =
  (slugs: ReadonlyMap<string, string>, now: Date) =>
  (domain: CustomDomain): Html => {
    const { short, tone } = progressOf(domain, now);
    const to = domainPath(slugs.get(domain.projectId) ?? '', domain.id);
    return html`<li class="${tone}"><a href="${to}" title="${nameInText(domain)}">${nameInText(domain)}</a> <span>${short}</span> <small>${urgency(domain, now)}</small></li>`;
  };

const urgency = (domain: CustomDomain, now: Date): Html => {
  const at = attentionAt(domain);
  if (at > now) return html`certificate until ${end(at, now)}`;
  return domain.state === 'live' ? html`since ${day(at)}` : html`added ${time(at, now)}`;
};

const ofDeploy = ({ project: { slug, name }, deploys: [newest] }: Site): Html =>
  html`<li class="bad"><a href="/dashboard/projects/${slug}" title="${name}">${name}</a> <span>Deploy ${newest?.number} failed${newest?.state === 'failed' && html`: ${newest.explanation}`}</span></li>`;
