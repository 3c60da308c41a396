import type { AgentRegistration, WorkflowRegistration } from '@perdure/core'

/**
 * Registrations as an inline list. Each registration infers its own input type from the schema in `input`; without a
 * schema the input is `unknown`.
 */
export interface TypedRegistrations<Agents extends readonly unknown[], Workflows extends readonly unknown[]> {
  readonly agents?: { readonly [Index in keyof Agents]: AgentRegistration<Agents[Index]> }
  readonly workflows?: { readonly [Index in keyof Workflows]: WorkflowRegistration<Workflows[Index]> }
}

/** Options with inline registrations. */
export type WithTypedRegistrations<
  Options extends { readonly agents?: unknown; readonly workflows?: unknown },
  Agents extends readonly unknown[],
  Workflows extends readonly unknown[],
> = Omit<Options, 'agents' | 'workflows'> & TypedRegistrations<Agents, Workflows>
