import type { AgentRegistration, WorkflowRegistration } from '@perdure/core'

/**
 * Registrations as a list in place: each has an input of its own, and its type comes from the schema in `input`, or is `unknown`
 * without one.
 */
export interface TypedRegistrations<Agents extends readonly unknown[], Workflows extends readonly unknown[]> {
  readonly agents?: { readonly [Index in keyof Agents]: AgentRegistration<Agents[Index]> }
  readonly workflows?: { readonly [Index in keyof Workflows]: WorkflowRegistration<Workflows[Index]> }
}

/** Options whose registrations are typed in place. */
export type WithTypedRegistrations<
  Options extends { readonly agents?: unknown; readonly workflows?: unknown },
  Agents extends readonly unknown[],
  Workflows extends readonly unknown[],
> = Omit<Options, 'agents' | 'workflows'> & TypedRegistrations<Agents, Workflows>
