import {
  ContainerModule,
  type Bind,
  type BindWhenOnFluentSyntax,
  type ResolutionContext,
  type ServiceIdentifier,
} from 'inversify';

type Once = <Port>(
  port: ServiceIdentifier<Port>,
  make: (context: ResolutionContext) => Port,
) => BindWhenOnFluentSyntax<Port>;

export const wiring = (wire: (once: Once, bind: Bind) => void): ContainerModule =>
  new ContainerModule(({ bind }) => {
    wire((port, make) => bind(port).toDynamicValue(make).inSingletonScope(), bind);
  });
