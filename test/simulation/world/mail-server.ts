import { postedBy } from '../../../src/adapters/mail/smtp-postman.ts';
import { Postman, type OutgoingMail, type Posted } from '../../../src/notifications/ports.ts';
import { pass } from './waits.ts';

/** Of a whole message, as `SmtpPostman` has it. */
const deadlineMs = 60_000;

export interface TakenMail extends OutgoingMail {
  readonly at: Date;
}

export interface MailWeather {
  /** `away`: nothing listens; `hangs`: no answer comes; `losesAnswers`: it takes a message, and its answer is lost. */
  server: 'well' | 'away' | 'hangs' | 'losesAnswers';
}

/** The mail server, with the client in front of it. */
export class MailServer extends Postman {
  /** In the order of their arrival. A message that came twice is in it twice. */
  readonly taken: TakenMail[] = [];
  readonly weather: MailWeather = { server: 'well' };

  override async post(mail: OutgoingMail, signal: AbortSignal): Promise<Posted> {
    const { server } = this.weather;
    if (mail.told.length === 0) return postedBy(new Error('a message needs something to tell'));
    if (signal.aborted) return stopped;
    if (server === 'away') return postedBy(new Error('connect ECONNREFUSED'));
    if (server === 'hangs') return never(signal);
    this.taken.push({ ...mail, at: new Date() });
    return server === 'losesAnswers' ? never(signal) : { kind: 'taken' };
  }
}

const stopped: Posted = { kind: 'failed', reason: 'This process was stopped meanwhile.' };

const never = async (signal: AbortSignal): Promise<Posted> => {
  const isLate = await pass(deadlineMs, signal);
  return isLate ? postedBy(new Error('The operation was aborted due to timeout')) : stopped;
};
