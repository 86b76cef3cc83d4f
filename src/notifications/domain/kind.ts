import type { KindFacts, NotificationKind, OwnersKind, PersonalKind } from './notification.ts';

interface InWords<Facts> {
  /** The event or the schedule that it comes from, in words. */
  readonly when: string;
  readonly tone: Tone;
  /** One sentence without a full stop, which says what happened. */
  readonly title: (about: Facts) => string;
  /** What it means, and who has to do what. */
  readonly text: (about: Facts) => string;
  /** Where it is mended, or shown. */
  readonly link: (about: Facts) => Link;
}

interface ForOwners<Facts> extends InWords<Facts> {
  readonly to: 'owners';
  /** What it is about: a person gets one mail of a kind and a subject a day. */
  readonly subject: (about: Facts) => string;
  /** A person of the account does it, and knows: only the others are told. */
  readonly isOwnDoing?: true;
  /** Its mail never waits for a summary. */
  readonly isUrgent?: true;
}

/** Only for the person concerned, by mail. Nobody can switch it off, and nothing limits it. */
interface ForPerson<Facts> extends InWords<Facts> {
  readonly to: 'person';
  readonly others?: (about: Facts) => readonly Other[];
}

export type Kind<Facts> = ForOwners<Facts> | ForPerson<Facts>;

/** How urgent it is. The colour only repeats what the words say. */
export type Tone = 'good' | 'busy' | 'bad' | 'idle';

/** The path is one of the dashboard. */
export interface Link {
  readonly path: string;
  readonly text: string;
}

export type KindTable = {
  readonly [Name in NotificationKind]: Name extends OwnersKind
    ? ForOwners<KindFacts[Name]>
    : ForPerson<KindFacts[Name]>;
};

/** A link beside the first one, and what it is for. */
export interface Other {
  readonly title: string;
  readonly link: Link;
}

export type PersonalKindTable = {
  readonly [Name in PersonalKind]: ForPerson<KindFacts[Name]>;
};
