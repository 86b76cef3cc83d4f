import { keptDeploys, type Deploy, type DeployState } from '../../../sites/domain/deploy.ts';
import type { Site } from '../../../sites/domain/site.ts';
import type { AccountUse } from '../../../sites/use-cases/show-use.ts';
import { bytesInWords } from '../../../kernel/text.ts';
import type { UploadProgress } from '../../../sites/ports.ts';
import { confirmedForm } from '../frame/confirmed-form.ts';
import { html, type Html } from '../frame/html.ts';
import { buttonForm } from '../frame/form-parts.ts';
import { badge, count, counted, size, time, type Tone } from '../frame/parts.ts';
import { table, type ColumnsOf } from '../frame/table.ts';

const tones: Readonly<Record<DeployState, Tone>> = {
  uploading: 'busy',
  succeeded: 'good',
  failed: 'bad',
};

export interface DeployListView extends Site {
  /** Progress of the upload that is being unpacked. */
  readonly progress: UploadProgress | undefined;
  /** How much of its storage the account uses. */
  readonly use: AccountUse;
  readonly now: Date;
}

/** Newest first. Marks the served deploy; every other successful one can be served again. */
export const deployList = (view: DeployListView): Html =>
  html`${table(view.deploys, Object.values(columns(view)), { idOf: ({ number }) => `deploy-${number}` })}
  <p class="hint">The last ${keptDeploys} deploys are kept, and the one that is served. All projects of your account together keep ${bytesInWords(view.use.storedBytes)} of ${bytesInWords(view.use.allowance.storedBytes)}.</p>`;

/** The contents are the files and bytes, or the explanation. */
const columns = (
  view: DeployListView,
): ColumnsOf<Deploy, 'id' | 'finishedAt' | 'bytes' | 'problem' | 'explanation'> => {
  const isServed = ({ id }: Deploy) => id === view.servedDeployId;
  return {
    number: [
      'Deploy',
      'text',
      (deploy) =>
        html`<span><strong>${deploy.number}</strong> ${isServed(deploy) && html`<span class="badge served">served</span>`}</span>`,
    ],
    state: ['Status', 'text', ({ state }) => badge(state, tones[state])],
    files: ['Contents', 'text', (deploy) => contents(deploy, view)],
    startedAt: ['Uploaded', 'text', ({ startedAt }) => time(startedAt, view.now)],
    action: [
      'Action',
      'actions',
      (deploy) =>
        deploy.state === 'succeeded' &&
        !isServed(deploy) && [useButton(deploy, view), deleteButton(deploy, view)],
    ],
  };
};

const contents = (deploy: Deploy, view: DeployListView): Html => {
  switch (deploy.state) {
    case 'uploading':
      return html`<span class="quiet">${progressOf(view)}</span>`;
    case 'succeeded':
      return html`${counted(deploy.files, 'file')}, ${size(deploy.bytes)}`;
    case 'failed':
      return html`<span class="wrapped">${deploy.explanation}</span>`;
  }
};

const steps = { unpacking: 'unpacking', preparing: 'compressing', storing: 'storing' } as const;

/** With several uploads at once, it is unknown which one the progress belongs to. */
const progressOf = ({ deploys, progress }: DeployListView): string => {
  const uploading = deploys.filter(({ state }) => state === 'uploading');
  if (!progress || uploading.length > 1) return 'being unpacked';
  const { step, done, total } = progress;
  const of = total === undefined ? '' : ` of ${count(total)}`;
  return `${steps[step]}: ${count(done)}${of} files`;
};

const useButton = ({ number }: Deploy, { project }: Site): Html =>
  buttonForm(`/dashboard/projects/${project.slug}/deploys/${number}/roll-back`, 'Use this deploy', {
    about: `Serve deploy ${number} to visitors`,
  });

const deleteButton = ({ number }: Deploy, { project }: Site): Html =>
  confirmedForm({
    id: `delete-${number}`,
    label: 'Delete',
    about: `Delete deploy ${number}`,
    question: `Delete deploy ${number}?`,
    consequences:
      'Its files are deleted. Visitors still get the deploy that is served. This cannot be undone.',
    confirm: 'Delete deploy',
    action: `/dashboard/projects/${project.slug}/deploys/${number}/delete`,
  });
