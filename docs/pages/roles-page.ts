import {
  operations,
  mayDo,
  type Operation,
  roles,
  roleWords,
} from '../../src/access/domain/role.ts';
import { provenMs } from '../../src/access/domain/session.ts';
import { inWords } from '../../src/kernel/text.ts';
import { page, printed, table } from './markdown.ts';

export const rolesPage = (): string =>
  page(
    '# Roles',
    printed('the table in src/access/domain/role.ts'),
    'Everybody in an account has one of three roles. An owner chooses it with the invitation and can change it later.',
    roles.map((role) => `- **${role}**: ${roleWords[role]}`).join('\n'),
    'Pages do not show what a role may not do, and a form that is sent anyway is answered 403. The last owner cannot leave, be removed or get another role. API keys have scopes, and roles do not change what they may do.',
    `Deleting, roles and secrets need the second factor again when the last sign-in or confirmation is more than ${inWords(provenMs)} ago. Who has none gives the password, or opens a new sign-in link. These are marked in the last column.`,
    '## Who may do what',
    table(
      ['May', ...roles, 'asked again'],
      (Object.keys(operations) as Operation[]).map((operation) => [
        operations[operation].does,
        ...roles.map((role) => (mayDo(role, operation) ? 'yes' : '')),
        operations[operation].again ? 'yes' : '',
      ]),
    ),
  );
