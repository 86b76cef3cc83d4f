import type { Html } from '../frame/html.ts';
import { tabs } from '../frame/parts.ts';
import { accountPath, peoplePath } from '../frame/paths.ts';

const pages = {
  account: { to: accountPath, text: 'Account' },
  people: { to: peoplePath, text: 'People' },
  audit: { to: `${accountPath}/audit`, text: 'Audit log' },
} as const;

export const accountTabs = (here: keyof typeof pages): Html =>
  tabs(
    'Account',
    Object.entries(pages).map(([name, { to, text }]) => ({ to, text, isHere: name === here })),
  );
