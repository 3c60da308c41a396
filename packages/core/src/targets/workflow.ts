import type { Returned } from './agent.ts'
import type { RegistrationOptions } from './registration.ts'
import type { RunContext } from './run-context.ts'

/** An object with an `execute` method, whose result must be JSON. */
export interface Workflow<Input = unknown, Output = unknown> {
  /** May repeat the id of the registration, and must not differ from it. */
  readonly id?: string
  /** May also return the stream of a model, as `streamText` does; the result is then `{ text }`. */
  execute(input: Input, context: RunContext): Returned<Output>
}

export interface WorkflowRegistration<
  Input = unknown,
  Output = unknown,
  Id extends string = string,
  Sent = unknown,
  Result = unknown,
> extends RegistrationOptions<Input, Output, Id, Sent, Result> {
  readonly workflow: Workflow<NoInfer<Input>, NoInfer<Output>>
}

/**
 * Returns its argument unchanged. Use it to define a workflow in a separate module: the input of `execute` then has the type
 * that the schema in `input` returns, and its result must have the type that the schema in `output` accepts.
 */
export const defineWorkflow = <
  Input = unknown,
  Output = unknown,
  const Id extends string = string,
  Sent = unknown,
  Result = unknown,
>(
  registration: WorkflowRegistration<Input, Output, Id, Sent, Result>,
): WorkflowRegistration<Input, Output, Id, Sent, Result> => registration
