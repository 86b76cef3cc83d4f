import { onDemand } from '../../src/app/on-demand.ts';

/** Loading takes real time, in which virtual time would go on. */
export const loadAll = async (): Promise<void> => {
  await Promise.all([onDemand.container(), onDemand.inbound(), onDemand.mail()]);
};
