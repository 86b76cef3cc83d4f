import { planSection } from './plan.ts';
import { auditSection } from './audit-section.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { html } from '../frame/html.ts';
import { shownOnce } from '../frame/act-once.ts';
import { mailForm, mailSection } from './mail-section.ts';
import { accountPath, dismissal, invitation, newLink } from './people-forms.ts';
import { passwordForm, passwordSection } from './people-password.ts';
import { peopleSection } from './people-section.ts';
import { endSession, endSessions, sessionsSection } from './people-sessions.ts';
import { refusalOf, type Screen } from '../frame/screen.ts';
import { head } from '../frame/parts.ts';

/** The account's plan, people and audit log. */
export const accountScreen = (ports: DashboardPorts): Screen => {
  const { access, sites, notifications, ids } = ports;
  const newId = () => ids.next('form');
  return {
    path: accountPath,
    section: 'account',
    live: false,
    notices: {
      [shownOnce]:
        'This was already done, and the link was shown then. If you lost it, create a new one.',
      removed: 'The person was removed and can no longer sign in.',
      password: 'The password is saved. All your other sessions have ended.',
      ended: 'The session has ended.',
      mail: 'Your mail settings are saved.',
      'all-ended': 'You are signed out everywhere else.',
    },
    show: async (visit, refusal, secret) => {
      const { signedIn, accountId } = visit;
      const { account, person } = signedIn;
      const [people, troubles, sessions, mail, audit, use] = await Promise.all([
        access.listPeople(accountId),
        notifications.listMailTroubles(accountId),
        access.listSessions(person.id),
        mailSection(ports, person),
        auditSection(ports, visit),
        sites.showUse(accountId),
      ]);
      const content = html`
        ${head('Account', html`${account.name}. You are signed in as ${person.email}.`)}
        ${secret}
        ${planSection(account, use)}
        ${peopleSection({ people, troubles }, visit, {
          ...{ newId, refusal, isMailOn: ports.notifications.isMailOn },
        })}
        ${mail}
        ${passwordSection(signedIn, refusalOf(refusal, 'password'))}
        ${sessionsSection(sessions, visit)}
        ${audit}`;
      return { title: 'Account', content };
    },
    forms: [
      invitation(ports),
      newLink(ports),
      dismissal(ports),
      mailForm(ports),
      passwordForm(ports),
      endSession(ports),
      endSessions(ports),
    ],
  };
};
