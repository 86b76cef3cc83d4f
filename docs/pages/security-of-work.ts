import { largestUpload } from '../../src/adapters/dashboard/upload-file.ts';
import { uploadPace } from '../../src/adapters/dashboard/upload-pace.ts';
import { uploadSlots } from '../../src/adapters/dashboard/uploads.ts';
import { edgeLimits, pieceBytes } from '../../src/adapters/edge/edge-limits.ts';
import { largestBody } from '../../src/adapters/http/request-body.ts';
import { judgingLimits } from '../../src/adapters/threads/threaded-judge.ts';
import { unpackingLimits } from '../../src/adapters/threads/threaded-unpacking.ts';
import { longestSettings } from '../../src/app/domain-settings-text.ts';
import { mostOfKind } from '../../src/sites/domain-ports.ts';
import { caBudgets } from '../../src/sites/domain/ca-budget.ts';
import { largestAnswer } from '../../src/sites/domain/dns-facts.ts';
import { shownAtMost } from '../../src/sites/domain/shortened.ts';
import { siteLimits } from '../../src/sites/domain/site-contents.ts';
import type { Defence } from './security-defence.ts';

const mib = (bytes: number): string => `${String(bytes / 1024 / 1024)} MiB`;
const kib = (bytes: number): string => `${String(bytes / 1024)} KiB`;
const seconds = (milliseconds: number): string => `${String(milliseconds / 1000)} s`;
const minutes = (milliseconds: number): string => `${String(milliseconds / 60_000)} minutes`;

export const text: readonly Defence[] = [
  {
    against: 'Text that takes a parser long.',
    how:
      'The length is checked before the content, wherever text comes from outside. A lint rule refuses regular expressions whose ' +
      'time grows faster than the text. Each parser is tried with a megabyte of each of its own letters.',
    tests: ['contract/text-parsers', 'system/lint-rules'],
  },
  {
    against: 'Work whose size a customer decides.',
    how:
      'Archives are unpacked, configurations read and DNS answers judged in threads with a limit of time and memory: ' +
      `${minutes(unpackingLimits.deadlineMs)} and ${String(unpackingLimits.memoryMiB)} MiB for an archive, ` +
      `${seconds(judgingLimits.deadlineMs)} and ${String(judgingLimits.memoryMiB)} MiB for DNS.`,
    tests: [
      'contract/thread-pool',
      'contract/site-unpacking',
      'contract/dns-judge',
      'contract/settings-reader',
    ],
  },
  {
    against: 'Large or malformed requests.',
    how:
      `A JSON body has at most ${kib(largestBody)}. What two servers could read differently is refused, and the connection ends. ` +
      'Every refusal under `/v1` has the shape of an error and the headers of the limits.',
    tests: ['http/refusals', 'http/unreadable-requests', 'edge/hostile-requests'],
  },
  {
    against: 'Configurations that unfold.',
    how: `At most ${kib(longestSettings)}; YAML without tags, anchors and aliases.`,
    tests: ['unit/domain-settings-text', 'contract/settings-reader'],
  },
];

export const uploads: readonly Defence[] = [
  {
    against: 'Archives that lead out of their folder, link, lie or unfold.',
    how:
      `At most ${mib(largestUpload)} packed, ${mib(siteLimits.bytes)} unpacked, ${String(siteLimits.entries)} files and folders, ` +
      `${String(siteLimits.folders)} folders within each other. Bytes are counted while they are unpacked. Files are stored under their hash.`,
    tests: ['contract/hostile-archives', 'unit/site-contents', 'system/attacks'],
  },
  {
    against: 'Senders that hold places for uploads.',
    how:
      `At least ${kib(uploadPace.slowest)} a second must arrive, all of it within ${minutes(uploadPace.longestMs)}. A process receives ` +
      `${String(uploadSlots.receiving.all)} uploads at once and unpacks ${String(uploadSlots.unpacking.all)}; an account holds ` +
      `${String(uploadSlots.receiving.ofOne)} and ${String(uploadSlots.unpacking.ofOne)} of these. A place is free again however its sender ends.`,
    tests: ['dashboard/slow-uploads', 'dashboard/uploads-at-once', 'unit/slots', 'system/attacks'],
  },
];

export const edge: readonly Defence[] = [
  {
    against: 'Visitors who are slow, or take nothing.',
    how:
      `An answer without progress is given up after ${seconds(edgeLimits.stalledAnswerMs)}, a connection of HTTP/2 without an answer ` +
      `that makes progress after ${seconds(edgeLimits.idleSessionMs)}, PINGs or not. Large files are sent in pieces of ${kib(pieceBytes)}.`,
    tests: ['edge/stalled-visitors', 'edge/slow-clients', 'system/attacks'],
  },
  {
    against: 'One network that takes all connections and memory.',
    how:
      'Per IPv4 address, or /64 of IPv6: ' +
      `${String(edgeLimits.connectionsOfNetwork)} connections, ${String(edgeLimits.answersOfNetwork)} answers under way, ` +
      `${mib(edgeLimits.bytesOfNetwork)} that wait to be taken. The process as a whole: ${String(edgeLimits.connections)} for each port, ` +
      `${String(edgeLimits.answers)} and ${mib(edgeLimits.bytes)}.`,
    tests: ['edge/stalled-visitors', 'edge/hostile-requests'],
  },
  {
    against: 'Floods of frames: CONTINUATION, resets, PING, SETTINGS.',
    how: `A connection of HTTP/2 ends after ${String(edgeLimits.idleFrames)} frames that lead to nothing.`,
    tests: ['edge/hostile-frames', 'system/fuzz'],
  },
  {
    against: 'Paths and hosts that lead to other files or sites.',
    how: 'A path is looked up in the list of published files, never on a disk. A request must be for the host of its connection.',
    tests: ['edge/hostile-requests', 'edge/names', 'unit/site-path'],
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
      `An answer is judged up to ${String(largestAnswer.records)} records and ${String(largestAnswer.characters)} characters. The first ` +
      `${String(shownAtMost.records)} records are kept, ${String(shownAtMost.characters)} characters of each, and the newest ` +
      `${String(mostOfKind.checked)} checks of a domain. What belongs to another question is passed over.`,
    tests: [
      'contract/node-dns-verifier-size',
      'unit/kept-answers',
      'dashboard/heavy-answers',
      'system/attacks',
    ],
  },
  {
    against: 'One account that uses up the certificate budget of all.',
    how:
      `${String(caBudgets.accountHour.stopAt)} new orders an hour and ${String(caBudgets.accountDay.stopAt)} a day for an account. Of ` +
      `${String(caBudgets.orders.stopAt)} orders in 3 hours, half is kept for renewals and for accounts that have ordered nothing within the hour.`,
    tests: ['unit/account-shares', 'unit/ca-budget', 'contract/authority-ledger'],
  },
  {
    against: 'Certificates for names of others.',
    how: 'Each attachment has a token of its own, which the DNS of the name must show. CAA is judged as authorities do.',
    tests: ['system/custom-domain-dns', 'unit/verify-domain', 'unit/caa'],
  },
  {
    against: 'Late, lost and wrong answers of an authority.',
    how: 'Only what belongs to the current attachment and order is accepted, and a certificate only with the key that it is for.',
    tests: ['contract/acme-certificate-authority-faults', 'system/custom-domain-authority'],
  },
];
