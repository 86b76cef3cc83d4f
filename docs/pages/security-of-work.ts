import { connectionLimits } from '../../src/adapters/http/listener/http-server.ts';
import { largestUpload, uploadPace } from '../../src/adapters/uploads/receive-file.ts';
import { uploadSlots } from '../../src/adapters/uploads/slots.ts';
import { edgeLimits, pieceBytes } from '../../src/adapters/edge/edge-limits.ts';
import { mostAhead } from '../../src/kernel/incoming.ts';
import { largestBody } from '../../src/adapters/http/operations/request-input.ts';
import { unpackingLimits } from '../../src/adapters/threads/threaded-unpacking.ts';
import { longestSettings } from '../../src/app/domain-settings/text.ts';
import { mostOfKind } from '../../src/domains/domain/attachment/timeline-entries.ts';
import { caBudgets } from '../../src/domains/domain/certificates/ca-budget.ts';
import { largestAnswer, shownAtMost } from '../../src/domains/domain/dns/facts.ts';
import { siteLimits } from '../../src/sites/domain/site-contents.ts';
import { planAllowances } from '../../src/sites/domain/project.ts';
import { bytesInWords } from '../../src/kernel/text.ts';
import type { Defence } from './security-defence.ts';

const mib = (bytes: number): string => `${String(bytes / 1024 / 1024)} MiB`;
const kib = (bytes: number): string => `${String(bytes / 1024)} KiB`;
const seconds = (milliseconds: number): string => `${String(milliseconds / 1000)} s`;
const minutes = (milliseconds: number): string => `${String(milliseconds / 60_000)} minutes`;

export const text: readonly Defence[] = [
  {
    against: 'Text that is slow to parse.',
    how:
      'We check the length of all text from outside before its content. A lint rule refuses regular expressions with ' +
      'super-linear time. Tests run each parser on a megabyte of each character that it treats specially.',
    tests: ['contract/slow-texts', 'contract/text-parsers', 'system/lint-rules'],
  },
  {
    against: 'Work whose size a customer decides.',
    how:
      'Worker threads unpack archives and read configurations, each with a limit of time and memory: ' +
      `${minutes(unpackingLimits.deadlineMs)} and ${String(unpackingLimits.memoryMiB)} MiB for an archive.`,
    tests: ['contract/thread-pool', 'contract/sites/site-unpacking', 'contract/settings-reader'],
  },
  {
    against: 'Large or malformed requests.',
    how:
      `A JSON body has at most ${kib(largestBody)}. A request that two servers could read differently (request smuggling) is refused, and ` +
      'the connection ends. Every refusal under `/v1` has the error shape and the limit headers.',
    tests: ['http/refusals', 'http/unreadable-requests', 'edge/hostile-requests'],
  },
  {
    against: 'Thousands of connections to the API and the dashboard.',
    how:
      `At most ${String(connectionLimits.all)} are open, and ${String(connectionLimits.ofNetwork)} of one IPv4 address or /64 of IPv6; the next one is cut. ` +
      'Behind a proxy (`TRUST_PROXY`) all connections come from its address: let the proxy limit them.',
    tests: ['http/http-server'],
  },
  {
    against: 'Thousands of requests in one packet.',
    how: `The service handles requests of one HTTP/1.1 connection one after the other, and other connections get their turn in between. A connection with more than ${mostAhead} waiting requests is closed.`,
    tests: ['http/http-server', 'edge/hostile-requests', 'release/attacks'],
  },
  {
    against: 'Configurations that expand when they are read.',
    how: `At most ${kib(longestSettings)}; YAML without tags, anchors and aliases.`,
    tests: ['unit/app/domain-settings-text', 'contract/settings-reader'],
  },
];

export const uploads: readonly Defence[] = [
  {
    against: 'Archives with path traversal, links, false sizes or compression bombs.',
    how:
      `At most ${mib(largestUpload)} packed, ${mib(siteLimits.bytes)} unpacked, ${String(siteLimits.entries)} files and folders, ` +
      `${String(siteLimits.folders)} levels of nested folders. We count bytes while unpacking, and store files under their hash.`,
    tests: ['contract/sites/hostile-archives', 'unit/sites/site-contents', 'release/attacks'],
  },
  {
    against: 'Slow uploads that hold all upload slots.',
    how:
      `At least ${kib(uploadPace.slowest)} a second must arrive, all of it within ${minutes(uploadPace.longestMs)}. A process receives ` +
      `${String(uploadSlots.receiving.all)} uploads at once and unpacks ${String(uploadSlots.unpacking.all)}; an account holds ` +
      `${String(uploadSlots.receiving.ofOne)} and ${String(uploadSlots.unpacking.ofOne)} of these. A slot becomes free however the upload ends.`,
    tests: ['dashboard/uploads', 'unit/dashboard/slots', 'release/attacks'],
  },
];

export const edge: readonly Defence[] = [
  {
    against: 'Visitors who read slowly, or not at all.',
    how:
      `An answer without progress is reset after ${seconds(edgeLimits.stalledAnswerMs)}. An HTTP/2 connection on which no answer makes ` +
      `progress is closed after ${seconds(edgeLimits.idleSessionMs)}, PINGs or not. Large files are sent in pieces of ${kib(pieceBytes)}.`,
    tests: ['edge/stalled-visitors', 'edge/slow-clients', 'release/attacks'],
  },
  {
    against: 'One network that takes all connections and memory.',
    how:
      'Per IPv4 address, or /64 of IPv6: ' +
      `${String(edgeLimits.connectionsOfNetwork)} connections, ${String(edgeLimits.answersOfNetwork)} answers in progress, ` +
      `${mib(edgeLimits.bytesOfNetwork)} of unsent answers. Per process: ${String(edgeLimits.connections)} connections to each port, ` +
      `${String(edgeLimits.answers)} answers, ${mib(edgeLimits.bytes)}.`,
    tests: ['edge/stalled-visitors', 'edge/hostile-requests'],
  },
  {
    against: 'Floods of frames: CONTINUATION, resets, PING, SETTINGS.',
    how: `An HTTP/2 connection ends after ${String(edgeLimits.idleFrames)} frames that do not lead to an answer.`,
    tests: ['edge/hostile-frames', 'release/fuzz'],
  },
  {
    against: 'Paths and hosts that reach other files or sites.',
    how: 'A path is looked up in the list of published files, never on a disk. A request must be for the host of its connection.',
    tests: ['edge/hostile-requests', 'edge/names', 'unit/edge/site-path'],
  },
  {
    against: 'Old cryptography.',
    how: 'TLS 1.3 and 1.2, with ciphers that authenticate what they encrypt. No session is resumed.',
    tests: ['edge/names'],
  },
];

export const dns: readonly Defence[] = [
  {
    against: 'DNS answers of any size and form.',
    how:
      `We evaluate an answer of up to ${String(largestAnswer.records)} records and ${String(largestAnswer.characters)} characters. We keep the first ` +
      `${String(shownAtMost.records)} records, ${String(shownAtMost.characters)} characters of each, and the newest ` +
      `${String(mostOfKind.checked)} checks of a domain. We ignore records that belong to another question.`,
    tests: [
      'contract/domains/node-dns-verifier-size',
      'unit/domains/kept-answers',
      'release/dashboard/heavy-pages',
      'release/attacks',
    ],
  },
  {
    against: 'One account that uses up the certificate budget of all accounts.',
    how:
      `${String(caBudgets.accountHour.stopAt)} new orders an hour and ${String(caBudgets.accountDay.stopAt)} a day for an account. Of ` +
      `${String(caBudgets.orders.stopAt)} orders in 3 hours, half is reserved for renewals and for accounts that have ordered nothing within the hour.`,
    tests: [
      'unit/domains/account-shares',
      'unit/domains/ca-budget',
      'contract/domains/authority-ledger',
    ],
  },
  {
    against: 'One account that creates unlimited projects, files or domains.',
    how:
      `An account on plan Free has ${String(planAllowances.free.projects)} projects and ${bytesInWords(planAllowances.free.storedBytes)} of files; ` +
      `on Pro ${String(planAllowances.pro.projects)} projects, ${bytesInWords(planAllowances.pro.storedBytes)}, and ` +
      `${String(planAllowances.pro.domainsAddedPerHour)} added domains an hour. Names such as \`www\` and \`app\` are reserved.`,
    tests: [
      'unit/sites/allowance',
      'contract/sites/projects',
      'contract/domains/custom-domains',
      'dashboard/account',
      'unit/sites/project',
    ],
  },
  {
    against: 'Certificates for names of others.',
    how: 'Each attachment has its own token, and the DNS of the name must show it. We evaluate CAA as certificate authorities do.',
    tests: ['release/custom-domain-dns', 'use-cases/domains/check-domain', 'unit/domains/caa'],
  },
  {
    against: 'Late, lost and wrong answers of an authority.',
    how: 'An answer is accepted only for the current attachment and order, and a certificate only with its own key.',
    tests: [
      'contract/domains/acme-certificate-authority-faults',
      'release/custom-domain-authority',
    ],
  },
];
