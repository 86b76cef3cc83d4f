import { InvalidArgumentError, type Command } from 'commander';
import type { Order } from '../../catalogue/domain/order.ts';
import { readId, type Pet } from '../../catalogue/domain/pet.ts';
import type { EveryField } from '../../kernel/every-field.ts';
import { CatalogueKey } from '../keys.ts';
import { print, withContainer, type OutputOptions } from './run-command.ts';

interface PetOptions extends OutputOptions {
  readonly account: string;
  readonly pet: bigint;
}

interface OrderOptions extends OutputOptions {
  readonly account: string;
  readonly order: bigint;
}

/** The dashboard's actions on animals and orders, for operators. */
export const petCommands = (program: Command): void => {
  const pet = program.command('pet').description('reserve, release and sell animals');
  for (const step of ['reserve', 'release'] as const) {
    pet
      .command(step)
      .description(`${step} an animal`)
      .requiredOption('--account <id>', 'id of the account')
      .requiredOption('--pet <id>', 'id of the animal', int64)
      .option('--json', 'print JSON')
      .action(async (options: PetOptions) => {
        await withContainer(async (container) => {
          const changed = await container
            .get(CatalogueKey)
            .changePet(options.account, options.pet, step);
          print(options, { pet: changed }, describePet(changed));
        });
      });
  }
  pet
    .command('sell')
    .description('sell an animal; creates an order')
    .requiredOption('--account <id>', 'id of the account')
    .requiredOption('--pet <id>', 'id of the animal', int64)
    .option('--json', 'print JSON')
    .action(async (options: PetOptions) => {
      await withContainer(async (container) => {
        const order = await container.get(CatalogueKey).placeOrder(options.account, options.pet);
        print(options, { order }, describeOrder(order));
      });
    });

  const order = program.command('order').description('approve and deliver orders');
  for (const step of ['approve', 'deliver'] as const) {
    order
      .command(step)
      .description(`${step} an order`)
      .requiredOption('--account <id>', 'id of the account')
      .requiredOption('--order <id>', 'id of the order', int64)
      .option('--json', 'print JSON')
      .action(async (options: OrderOptions) => {
        await withContainer(async (container) => {
          const changed = await container
            .get(CatalogueKey)
            .changeOrder(options.account, options.order, step);
          print(options, { order: changed }, describeOrder(changed));
        });
      });
  }
};

// JSON has every field; a sentence leaves some out.

const describePet = ({ id, name, status }: Pet): string => {
  const told = { id, name, status } satisfies Omit<EveryField<Pet>, 'categoryId'>;
  return `Animal ${String(told.id)} (${told.name}) is ${told.status}.`;
};

const describeOrder = ({ id, petId, status }: Order): string => {
  const told = { id, petId, status } satisfies Omit<EveryField<Order>, 'quantity' | 'shipDate'>;
  return `Order ${String(told.id)} for animal ${String(told.petId)} is ${told.status}.`;
};

const int64 = (text: string): bigint => {
  const id = readId(text);
  if (id === undefined) throw new InvalidArgumentError('Use a whole number of at least 1.');
  return id;
};
