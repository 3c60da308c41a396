import type { RunContext } from '@perdure/core'

/** The members of the run context that a durable model uses. */
export type ModelContext = Pick<RunContext, 'step' | 'emit' | 'usage'>

/** The members of the run context that a durable tool uses. */
export type ToolContext = Pick<RunContext, 'tool' | 'emit'>
