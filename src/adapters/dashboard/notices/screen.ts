import { bellPath, noticesPath, readerOf } from '../frame/bell.ts';
import { html } from '../frame/html.ts';
import { empty, head, pager } from '../frame/parts.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { queryText } from '../frame/query-text.ts';
import { bareForm, type Form, type Screen } from '../frame/screen.ts';
import { noticeList } from './list.ts';

const pageSize = 25;

type Ports = Pick<DashboardPorts, 'notifications'>;

/** What the owners were told, newest first. */
export const noticesScreen = ({ notifications }: Ports): Screen => ({
  path: noticesPath,
  section: 'notices',
  live: async ({ accountId }) => String(await notifications.newestNotice(accountId)),
  show: async ({ accountId, query, now }) => {
    const [before, seen] = [placeOf(query.get('before')), placeOf(query.get('since'))];
    const found = await notifications.listNotices(accountId, pageSize + 1, before);
    const notices = found.slice(0, pageSize);
    const last = found.length > pageSize ? notices.at(-1)?.place : undefined;
    return {
      title: 'Notices',
      content: html`
        ${head('Notices', 'What happened to your domains, certificates, deploys and API keys, and what you can do about it. Notices are kept for 90 days.')}
        ${notices.length === 0 ? nothingYet(before !== undefined) : noticeList(notices, { seen, now })}
        ${pager({
          first: before === undefined ? undefined : pathOf({ seen }),
          next: last === undefined ? undefined : pathOf({ seen, before: last }),
          of: 'notices',
        })}`,
    };
  },
  forms: [looking({ notifications })],
});

/** Only its bell is live. Pages that are not live listen to it; it shows what the page of the notices does. */
export const bellScreen = (ports: Ports): Screen => ({
  ...noticesScreen(ports),
  ...{ path: bellPath, live: 'bell', forms: [] },
});

/** Somebody pressed the bell, or looks at the page: all notices are read, and the page marks those that were not. */
const looking = ({ notifications }: Ports): Form =>
  bareForm({
    name: 'look',
    path: noticesPath,
    act: async ({ signedIn }) => {
      const { before, newest } = await notifications.lookAtNotices(readerOf(signedIn));
      return { to: pathOf({ seen: before < newest ? before : undefined }) };
    },
  });

interface Position {
  readonly seen: bigint | undefined;
  readonly before?: bigint;
}

const pathOf = ({ seen, before }: Position): string =>
  `${noticesPath}${queryText({ since: seen?.toString(), before: before?.toString() })}`;

/** @returns undefined for anything but the place of a notice */
const placeOf = (text: string | null): bigint | undefined =>
  text !== null && /^\d{1,18}$/.test(text) ? BigInt(text) : undefined;

const nothingYet = (isOlder: boolean) =>
  isOlder
    ? html`<p class="hint">There are no older notices.</p>`
    : empty(
        'No notices yet',
        'We tell you here when a domain goes live or stops working, a certificate cannot be renewed, a deploy fails, or your requests run out.',
      );
