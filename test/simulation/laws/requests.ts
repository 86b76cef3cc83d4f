import type { Law } from './law.ts';

export const ownersAreAnswered: Law = {
  name: 'What an owner asks for is done, refused in words, or not answered',
  eachHour: ({ owners }) => owners.faults[0],
};
