import { DashboardVisitor } from './visitor.ts';
import type { Service } from '../service/service-process.ts';

/** Of the link that a first start prints. @returns its path */
export const printedLink = ({ stdout }: Pick<Service, 'stdout'>): string => {
  const [link] = /\/dashboard\/sign-in\/[0-9A-Za-z]{43}/.exec(stdout()) ?? [];
  if (link === undefined) throw new Error(`no sign-in link in:\n${stdout()}`);
  return link;
};

/** The operator who started the service, signed in. */
export const signInFirst = async (service: Service): Promise<DashboardVisitor> => {
  const visitor = new DashboardVisitor(service.origin);
  const { status } = await visitor.get(printedLink(service));
  if (status !== 303) throw new Error(`the printed link was answered ${status}`);
  return visitor;
};

/** The same session at another process of the fleet. */
export const at = ({ origin }: Service, { cookie }: DashboardVisitor): DashboardVisitor =>
  new DashboardVisitor(origin, cookie);
