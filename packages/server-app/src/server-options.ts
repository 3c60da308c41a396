import type { AgentRegistration, TriggerRegistration, WorkflowRegistration } from '@berth/core'
import type { ServerConfigInput } from '@berth/protocol'
import type { Adapters } from './adapters.ts'
import type { Hooks } from './hooks.ts'

export interface ServerOptions {
  readonly config?: ServerConfigInput
  readonly agents?: readonly AgentRegistration[]
  readonly workflows?: readonly WorkflowRegistration[]
  /** Rules by which runs start; those of an earlier start that are gone become orphans. */
  readonly triggers?: readonly TriggerRegistration[]
  readonly hooks?: Hooks
  /** Any adapter, to swap it. What is passed in is never closed by the server. */
  readonly adapters?: Partial<Adapters>
  /** What relative paths in the configuration start from; the working directory when missing. */
  readonly configDir?: string
}
