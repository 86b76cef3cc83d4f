import {
  ContainerModule,
  type Bind,
  type BindWhenOnFluentSyntax,
  type ResolutionContext,
  type ServiceIdentifier,
} from 'inversify';

/** Binds a port to the one instance that `make` gives when it is first asked for. */
type Once = <Port>(
  port: ServiceIdentifier<Port>,
  make: (context: ResolutionContext) => Port,
) => BindWhenOnFluentSyntax<Port>;

/** A module of the container, one line for each port. */
export const wiring = (wire: (once: Once, bind: Bind) => void): ContainerModule =>
  new ContainerModule(({ bind }) => {
    wire((port, make) => bind(port).toDynamicValue(make).inSingletonScope(), bind);
  });
