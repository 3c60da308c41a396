import type { Returned, RunCode } from './agent.ts'
import type { RegistrationOptions } from './registration.ts'
import type { RunContext } from './run-context.ts'

/** An object with an `execute` method. */
export interface Workflow<Input = unknown, Output = unknown> {
  /** May repeat the id of the registration, and must not differ from it. */
  readonly id?: string
  /** May also return the stream of a model, as `streamText` does; the result is then `{ text }`. */
  execute(input: Input, context: RunContext): Returned<Output>
}

/** A workflow as `defineWorkflow` returns it, or with its code in a member `workflow`. */
export type WorkflowRegistration<
  Input = unknown,
  Output = unknown,
  Id extends string = string,
  Sent = unknown,
  Result = unknown,
> = RegistrationOptions<Input, Output, Id, Sent, Result> & { readonly kind?: 'workflow' } & (
    | { readonly run: RunCode<NoInfer<Input>, NoInfer<Output>>; readonly workflow?: undefined }
    | { readonly workflow: Workflow<NoInfer<Input>, NoInfer<Output>>; readonly run?: undefined }
  )
