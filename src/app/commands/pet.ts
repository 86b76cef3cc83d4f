import { InvalidArgumentError } from 'commander';
import type { Container } from 'inversify';
import { presentOrder, presentPet } from '../../adapters/http/operations/schemas.ts';
import type { Order } from '../../catalogue/domain/order.ts';
import { readId, type Pet } from '../../catalogue/domain/pet.ts';
import type { EveryField } from '../../kernel/decision.ts';
import { AccessKey, CatalogueKey } from '../keys.ts';
import { group, command, ofAccount, required } from './run-command.ts';

const int64 = (text: string): bigint => {
  const id = readId(text);
  if (id === undefined) throw new InvalidArgumentError('Use a whole number of at least 1.');
  return id;
};

interface OfPet {
  readonly account: string;
  readonly pet: bigint;
}

/** @throws DomainError if the account is not in service */
const catalogueOf = async (container: Container, account: string) => {
  await container.get(AccessKey).requireInService(account);
  return container.get(CatalogueKey);
};

const ofPet = [ofAccount, required('--pet <id>', 'id of the animal').argParser(int64)];

const petStep = (step: 'reserve' | 'release') =>
  command(`${step} an animal`, ofPet, async (container, { account, pet }: OfPet) => {
    const changed = await (await catalogueOf(container, account)).changePet(account, pet, step);
    return [{ pet: presentPet(changed) }, describePet(changed)];
  });

const sell = command(
  'sell an animal; creates an order',
  ofPet,
  async (container, { account, pet }: OfPet) => {
    const order = await (await catalogueOf(container, account)).placeOrder(account, pet);
    return [{ order: presentOrder(order) }, describeOrder(order)];
  },
);

export const petCommands = group('pet', 'reserve, release and sell animals', {
  reserve: petStep('reserve'),
  release: petStep('release'),
  sell,
});

const orderStep = (step: 'approve' | 'deliver') =>
  command(
    `${step} an order`,
    [ofAccount, required('--order <id>', 'id of the order').argParser(int64)],
    async (container, { account, order }: { account: string; order: bigint }) => {
      const changed = await (
        await catalogueOf(container, account)
      ).changeOrder(account, order, step);
      return [{ order: presentOrder(changed) }, describeOrder(changed)];
    },
  );

export const orderCommands = group('order', 'approve and deliver orders', {
  approve: orderStep('approve'),
  deliver: orderStep('deliver'),
});

const describePet = ({ id, name, status }: Pet): string => {
  const told = { id, name, status } satisfies Omit<EveryField<Pet>, 'categoryId'>;
  return `Animal ${String(told.id)} (${told.name}) is ${told.status}.`;
};

const describeOrder = ({ id, petId, status }: Order): string => {
  const told = { id, petId, status } satisfies Omit<EveryField<Order>, 'quantity' | 'shipDate'>;
  return `Order ${String(told.id)} for animal ${String(told.petId)} is ${told.status}.`;
};
