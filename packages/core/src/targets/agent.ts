import type { EventPhase } from '@perdure/ports'
import type { Suspension } from '../durable/suspension.ts'
import type { StreamSource } from '../model-parts/stream-source.ts'
import type { RegistrationOptions } from './registration.ts'
import type { RunContext } from './run-context.ts'

/** What a generator yields: an event, a piece of text, or a stream to show. */
export type Yielded = AgentEvent | string | StreamSource

export interface AgentEvent {
  readonly type: string
  readonly payload?: unknown
  readonly phase?: EventPhase
}

type Outcome<Output> = Output | Suspension | StreamSource

/** What the code of a run returns: its result, which must be JSON, a suspension, a stream to show, or a generator. */
export type Returned<Output> =
  | Outcome<Output>
  | PromiseLike<Outcome<Output>>
  | AsyncGenerator<Yielded, Outcome<Output>, void>

/** The code of an agent or workflow. A method, so that code for a narrower input can be registered. */
export type RunCode<Input = unknown, Output = unknown> = {
  run(input: Input, context: RunContext): Returned<Output>
}['run']

/** An object with a `run` method. */
export interface Agent<Input = unknown, Output = unknown> {
  /** May repeat the id of the registration, and must not differ from it. */
  readonly id?: string
  /** May also return the stream of a model, as `streamText` does; the result is then `{ text }`. */
  run(input: Input, context: RunContext): Returned<Output>
}

/** An agent as `defineAgent` returns it, or with its code in a member `agent`. */
export type AgentRegistration<
  Input = unknown,
  Output = unknown,
  Id extends string = string,
  Sent = unknown,
  Result = unknown,
> = RegistrationOptions<Input, Output, Id, Sent, Result> & { readonly kind?: 'agent' } & (
    | { readonly run: RunCode<NoInfer<Input>, NoInfer<Output>>; readonly agent?: undefined }
    | { readonly agent: Agent<NoInfer<Input>, NoInfer<Output>>; readonly run?: undefined }
  )
