import { page, printed } from './markdown.ts';
import type { Defence } from './security-defence.ts';
import { accounts, signIn, whole } from './security-of-people.ts';
import { dns, edge, text, uploads } from './security-of-work.ts';

const sections: Readonly<Record<string, readonly Defence[]>> = {
  'Text and requests': text,
  Uploads: uploads,
  'The edge': edge,
  'DNS and certificates': dns,
  'Sign-in and the dashboard': signIn,
  'Accounts and secrets': accounts,
  'The whole': whole,
};

/** What an attacker may still do; who runs the service has to know. */
const open = [
  'Floods that fill the network itself. Put a provider or a firewall in front that takes them.',
  'Many networks together. Limits are for one network; a botnet has more of them, also to guess passwords from: long ones hold.',
  'Whoever controls the machine, the database, `DATA_DIR` or `SECRET_KEY`. Keep backups as safe as these.',
  'A resolver that lies. Use resolvers that check DNSSEC, over a network that you trust.',
  'What a customer publishes. Sites are not scanned; each has a host of its own, apart from the dashboard.',
  'Somebody who reads the mail of an owner, or uses their open browser. There is no second factor.',
  'Networks in which all people share one IPv4 address: they share its limits.',
  'A proxy in front that sets no `X-Forwarded-For`, or a wrong `TRUST_PROXY`: all visitors then look like one.',
  'Several processes without Redis: each counts requests by itself.',
];

export const securityPage = (): string =>
  page(
    '# Security',
    printed('docs/pages/security-*.ts, with numbers from src,'),
    'What the service defends against, how, within which limits, and which tests show it. All limits are in ' +
      '[limits](limits.md) and [operations](operations.md#limits-of-the-edge).',
    ...Object.entries(sections).flatMap(([title, all]) => [
      `## ${title}`,
      all.map(line).join('\n'),
    ]),
    '## What is not defended against',
    open.map((one) => `- ${one}`).join('\n'),
    '## Reporting a vulnerability',
    'Tell the people who run the service that you use, in private, before you tell anybody else: what you did, what ' +
      'happened, and when. Test with an account and domains of your own, and stop at the first sign of data that belongs to somebody else. ' +
      'If you run the service yourself, report it where you got the code, by its private way for reports if it has one.',
    'A finding of `make fuzz` comes with its seed and the smallest case that leads there. Both belong into the report.',
  );

const line = ({ against, how, tests }: Defence): string =>
  `- **${against}** ${how} Tests: ${tests.map((test) => `\`test/${test}.test.ts\``).join(', ')}.`;
