import type { Invitation } from '../../../access/use-cases/people.ts';
import { planSection } from './plan.ts';
import { auditSection } from './audit-section.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { html } from '../frame/html.ts';
import { shownOnce } from '../frame/act-once.ts';
import { accountPath, dismissal, invitation, newLink } from './people-forms.ts';
import { shownLink } from './people-link.ts';
import { passwordForm, passwordSection } from './people-password.ts';
import { peopleSection } from './people-section.ts';
import { endSession, endSessions, sessionsSection } from './people-sessions.ts';
import { refusalOf, type Page, type Refusal, type Screen, type Visit } from '../frame/screen.ts';
import { head } from '../frame/parts.ts';

interface Shown {
  readonly refusal?: Refusal;
  readonly invited?: Invitation;
}

/** The account's plan, people and audit log. */
export const accountScreen = (ports: DashboardPorts): Screen => {
  const { access, sites, settings, ids } = ports;
  const newId = () => ids.next('form');
  const page = async (visit: Visit, { refusal, invited }: Shown): Promise<Page> => {
    const { signedIn, accountId, now } = visit;
    const [people, sessions, audit, use] = await Promise.all([
      access.listPeople(accountId),
      access.listSessions(signedIn.person.id),
      auditSection(ports, visit),
      sites.showUse(accountId),
    ]);
    const content = html`
      ${head('Account', html`${signedIn.account.name}. You are signed in as ${signedIn.person.email}.`)}
      ${invited && shownLink(invited, settings.origin, now)}
      ${planSection(signedIn.account, use, settings.allowances)}
      ${peopleSection(people, visit, { newId, refusal })}
      ${passwordSection(signedIn, refusalOf(refusal, 'password'))}
      ${sessionsSection(sessions, visit)}
      ${audit}`;
    return { title: invited ? `A sign-in link for ${invited.person.email}` : 'Account', content };
  };
  const answer = async (visit: Visit, invited: Invitation, status: number): Promise<Page> => ({
    ...(await page(visit, { invited })),
    status,
  });
  return {
    path: accountPath,
    section: 'account',
    isLive: false,
    notices: {
      [shownOnce]:
        'This was already done, and the link was shown then. If you lost it, create a new one.',
      removed: 'The person was removed and can no longer sign in.',
      password: 'The password is saved. All your other sessions have ended.',
      ended: 'The session has ended.',
      'all-ended': 'You are signed out everywhere else.',
    },
    show: (visit, refusal) => page(visit, refusal ? { refusal } : {}),
    forms: [
      invitation(ports, (visit, invited) => answer(visit, invited, 201)),
      newLink(ports, (visit, invited) => answer(visit, invited, 200)),
      dismissal(ports),
      passwordForm(ports),
      endSession(ports),
      endSessions(ports),
    ],
  };
};
