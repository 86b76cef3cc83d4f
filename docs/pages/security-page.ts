import { page, printed } from './markdown.ts';
import type { Defence } from './security-defence.ts';
import { accounts, signIn, whole } from './security-of-people.ts';
import { calls } from './security-of-calls.ts';
import { dns, edge, text, uploads } from './security-of-work.ts';

const sections: Readonly<Record<string, readonly Defence[]>> = {
  'Text and requests': text,
  Uploads: uploads,
  'The edge': edge,
  'DNS and certificates': dns,
  'Calls to addresses of customers': calls,
  'Sign-in and the dashboard': signIn,
  'Accounts and secrets': accounts,
  'The whole': whole,
};

/** What an attacker may still do; operators have to know. */
const open = [
  'Floods that fill the network itself. Put a provider or a firewall in front that absorbs them.',
  'Attacks from many networks at once. Limits apply to one network, and a botnet has many, also to guess passwords. Long passwords withstand this.',
  'Anyone who controls the machine, the database, `DATA_DIR` or `SECRET_KEY`. Keep backups as safe as these.',
  'Resolvers that give false answers. Use resolvers that check DNSSEC, over a network that you trust.',
  'A network that sends some public addresses to machines inside, such as a NAT64 prefix or an address of its own that only it routes. ' +
    'Webhooks are sent to public addresses: let a firewall keep the workers away from what they should not reach.',
  'Harmful content on a published site. We do not scan sites. Each has its own host, apart from the dashboard.',
  'Cookies that a published site sets for a domain above it and the dashboard, such as `shop.example` for `sites.shop.example` ' +
    'and `app.shop.example`. Over https none of them can replace ours. To exclude them, choose a `PLATFORM_HOST` below another domain.',
  'Someone who reads the mail of an owner, or uses their open browser. There is no second factor.',
  'People who share one IPv4 address: they share its limits.',
  'A proxy in front that sets no `X-Forwarded-For`, or a wrong `TRUST_PROXY`: all visitors then look like one.',
  'Several processes without Redis: each counts requests by itself.',
];

export const securityPage = (): string =>
  page(
    '# Security',
    printed('docs/pages/security-*.ts, with numbers from src,'),
    'What the service defends against, how, within which limits, and which tests show it. All limits are in ' +
      '[limits](limits.md) and [limits of the edge](edge.md#limits-of-the-edge).',
    ...Object.entries(sections).flatMap(([title, all]) => [
      `## ${title}`,
      all.map(line).join('\n'),
    ]),
    '## What is not defended against',
    open.map((one) => `- ${one}`).join('\n'),
    '## Reporting a vulnerability',
    'Tell the operator of the service in private before you tell anyone else. Say what you did, what ' +
      'happened, and when. Test with your own account and domains, and stop at the first sign of data that belongs to someone else. ' +
      'If you run the service yourself, report it where you got the code, in private if you can.',
    '`make fuzz` prints the seed of a finding and the smallest case that reproduces it. Include both.',
  );

const line = ({ against, how, tests }: Defence): string =>
  `- **${against}** ${how} Tests: ${tests.map((test) => `\`test/${test}.test.ts\``).join(', ')}.`;
