import { largest, longestMs } from '../../src/adapters/webhooks/guarded-outside.ts';
import { payloadSchemaPath } from '../../src/adapters/http/reference/reference-routes.ts';
import { mostAtOnce } from '../../src/adapters/schedule/shares.ts';
import { kinds } from '../../src/notifications/domain/kinds.ts';
import type { OwnersKind, Told } from '../../src/notifications/domain/notification.ts';
import {
  longestFailingMs,
  waits,
  slowMs,
} from '../../src/notifications/domain/webhook-delivery.ts';
import { inWords } from '../../src/kernel/text.ts';
import {
  blockedPorts,
  longestUrl,
  specialRanges,
} from '../../src/notifications/domain/destination.ts';
import { payload, ping, type Payload } from '../../src/notifications/domain/payload.ts';
import {
  mostSecrets,
  secretOverlaps,
  mostWebhooks,
} from '../../src/notifications/domain/webhook.ts';
import { everyKind } from '../../test/support/notifications.ts';
import { code, list, page, printed, table } from './markdown.ts';
import { nodeReceiver, pythonReceiver } from './webhook-receivers.ts';

const kib = (bytes: number): string => `${bytes / 1024} KiB`;
const day = 24 * 60 * 60_000;
const units = [
  { unit: 'hour', ms: 60 * 60_000 },
  { unit: 'minute', ms: 60_000 },
  { unit: 'second', ms: 1000 },
];
const wait = (ms: number): string => {
  const { unit, ms: size } = units.find((one) => ms >= one.ms) ?? { unit: 'second', ms: 1000 };
  return `${ms / size} ${unit}s`;
};
const fenced = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``;

const isForOwners = (told: Told): told is Extract<Told, { kind: OwnersKind }> =>
  kinds[told.kind].to === 'owners';

const occurredAt = new Date('2026-03-01T10:00:00.000Z');
const example = (told: Extract<Told, { kind: OwnersKind }>): Payload =>
  payload({ ...told, id: '', accountId: 'acc_1', occurredAt });

const typeRows = (): readonly (readonly string[])[] =>
  [
    ...everyKind()
      .filter(isForOwners)
      .map((told) => [told.kind, kinds[told.kind].when, example(told)] as const),
    [
      'test.ping',
      'You clicked “Send a test”. Only that webhook gets it.',
      ping({ id: 'hook_1', accountId: 'acc_1' }, occurredAt),
    ] as const,
  ].map(([type, when, { data }]) => [
    code(type),
    when,
    list(Object.keys(data).filter((field) => field !== 'accountId')),
  ]);

const shownMessage = (): Payload | undefined =>
  everyKind()
    .filter(isForOwners)
    .filter(({ kind }) => kind === 'certificate.recovered')
    .map(example)[0];

export const webhooksPage = (): string =>
  page(
    '# Webhooks',
    printed('docs/pages/webhooks-page.ts, with numbers from src/notifications/domain/webhooks,'),
    'A webhook is an address of yours that Animal Store calls when something happens, so that your programs learn of it without asking. They are called for what [notices](notifications.md#what-you-are-told) say to people.',
    '## Add one',
    [
      '1. Write a [receiver](#a-receiver) and make it reachable over https.',
      '2. Open **Webhooks** in the dashboard, enter the address, choose the kinds, and add it.',
      '3. Copy the secret, which begins with `whsec_`. We show it once. Give it to your receiver as `WEBHOOK_SECRET`.',
      '4. Choose “Send a test”. The page shows what your receiver answered, within seconds.',
    ].join('\n'),
    `An account can have ${mostWebhooks} webhooks.`,
    '## A receiver',
    'It verifies the signature, answers at once, remembers the id, and then works. In Node.js, with the library of [Standard Webhooks](https://www.standardwebhooks.com) (`npm install standardwebhooks`), which exists for most languages:',
    fenced('js', nodeReceiver),
    'In Python, with nothing but its standard library:',
    fenced('python', pythonReceiver),
    'Both read the port from `PORT`. Put a proxy with TLS in front, or run them on a platform that does.',
    '## What we send',
    'A `POST` with JSON, in UTF-8:',
    fenced('json', JSON.stringify(shownMessage(), null, 2)),
    `\`timestamp\` is when it happened, not when it is sent. The fields of \`data\` depend on \`type\`; \`accountId\` is in all of them. Each type has a JSON Schema (2020-12) on the server of the API, such as \`${payloadSchemaPath('domain.live')}\`. We may add fields and types, so ignore those that you do not know. Existing fields keep their meaning.`,
    table(['Type', 'When', 'Fields of `data`'], typeRows()),
    table(
      ['Header', 'Content'],
      [
        ['`content-type`', '`application/json`'],
        [
          '`webhook-id`',
          'the id of the message: the same at each attempt, and when it is sent again',
        ],
        ['`webhook-timestamp`', 'when this attempt was made, in Unix seconds'],
        [
          '`webhook-signature`',
          '`v1,` and a signature in base64; several, with a space between them, while a secret is rotated',
        ],
      ],
    ),
    '## Verify the signature',
    'Without it, anybody who knows the address can send you anything. Use the library. Without one:',
    [
      '1. Take the body as it came, byte for byte. Do not parse it and write it again.',
      '2. Join `webhook-id`, `webhook-timestamp` and the body with dots.',
      '3. Make an HMAC-SHA256 of that. The key is what follows `whsec_` in your secret, decoded from base64.',
      '4. Compare it, in constant time, with each `v1,` signature in the header. One must match.',
      '5. Refuse messages whose `webhook-timestamp` is more than 5 minutes old, so that nobody can send you an old one again.',
    ].join('\n'),
    '## Answers, and trying again',
    `Any 2xx status means that you have the message. Answer first and work afterwards: we wait ${longestMs / 1000} seconds for the whole answer. Anything else is a failure, also a redirect, which we do not follow.`,
    `After a failure we try again after ${waits.map(wait).join(', ')}, each up to a tenth longer. Then we give up on that message; you can still send it again from the page.`,
    [
      `- We **switch a webhook off** when it answers 410, or when all attempts of ${longestFailingMs / day} days failed. A success begins them anew. Time in which there is nothing to send for more than a day does not count. A [notice](notifications.md) tells you. Deliveries that wait are cancelled. Switch it on again in the dashboard.`,
      '- **Messages can come twice**: if your answer is lost, we cannot know that you have the message. Remember each `webhook-id`, and do nothing for one that you have seen.',
      '- **Messages can come in another order** than things happened. Compare `timestamp`.',
      `- A slow webhook delays no quick one: a call that takes longer than ${inWords(slowMs)} gives its place to another. Slow ones may wait for each other. An account can have ${mostAtOnce.account} quick and ${mostAtOnce.account} slow calls at a time, ${mostAtOnce.receiver} of each to one host and port, and ${mostAtOnce.webhook} of one webhook. What is beyond that waits.`,
    ].join('\n'),
    '## See what happened, and send again',
    `The page of a webhook lists its deliveries of 30 days: each attempt with its status, its milliseconds and the beginning of the answer (${kib(largest.kept)}), and when the next attempt is. “Send again” repeats one with the same \`webhook-id\`, also if it succeeded; your receiver may ignore what it has seen. After an outage of more than a few hours, look there first.`,
    '![A webhook and its deliveries](screenshots/webhook-light.webp)',
    '## Rotate the secret',
    `Choose “Rotate secret” and how long the old one shall sign too: ${Object.keys(secretOverlaps).map(code).join(', ')}. During that time each message carries one signature for each secret, so receivers with either of them verify it. Give your receiver the new secret within that time. If the old secret is in wrong hands, choose 0. Secrets of earlier rotations end then too, or earlier. At most ${mostSecrets} secrets sign at a time: a rotation beyond that is refused until one has ended.`,
    '## What we call',
    [
      `- Addresses that begin with \`https://\`, of at most ${longestUrl} characters, without user and password. The certificate must be valid for the name, and come with its chain from a public authority.`,
      `- Port 443, or from 1024 on. Ports on which other protocols or databases usually listen are refused: ${blockedPorts.toSorted((a, b) => a - b).join(', ')}.`,
      '- **Public addresses only.** The name must be in public DNS, and all its addresses must be public. It is looked up for each attempt, and we connect to exactly the addresses that we checked. All ranges below are refused, in whatever notation; an address of the service itself is too.',
      `- HTTP/1.1, one connection for each attempt. We read at most ${kib(largest.headers)} of headers and ${kib(largest.answer)} of the answer, and do not decompress it.`,
      '- We call from the addresses of the service, which its operator can tell you. They can change: verify the signature instead of the address.',
    ].join('\n'),
    table(
      ['Refused', 'What it is for', 'Source'],
      specialRanges.map(({ network, use, source }) => [code(network), use, source]),
    ),
    'Of IPv6, everything outside `2000::/3` is refused too. [Why](decisions/0074-deliveries-to-webhooks-wait-in-the-database.md).',
    '## Try it on your machine',
    'Outside production, unless `ALLOW_TEST_DOMAINS=0`, the service also calls `http://127.0.0.1:8000`. Start a receiver there, add that address, and send a test. For a service elsewhere, use a tunnel that gives your machine a public https address.',
    '## If it does not work',
    table(
      ['What the page shows', 'What to do'],
      [
        [
          'We found no address …',
          'Is the name in public DNS? Ask a public resolver: `dig @1.1.1.1 hooks.example.com`. Does one of its addresses belong to a private network?',
        ],
        [
          'We could not connect …',
          'Does the receiver run? Does a firewall allow connections from outside?',
        ],
        [
          'The certificate …',
          'Try `curl -v` from another machine. Servers often lack the intermediate certificate, which browsers fetch by themselves.',
        ],
        ['There was no complete answer …', 'Answer before you work: put the message in a queue.'],
        [
          '400 or 401',
          'Is it the secret of this webhook? Does a framework parse the body before you verify it?',
        ],
        ['301 or 308', 'Enter the address to which it redirects.'],
        [
          '403 or a page in HTML',
          'A firewall for web applications may refuse us. Allow `POST` to that path.',
        ],
      ],
    ),
  );
