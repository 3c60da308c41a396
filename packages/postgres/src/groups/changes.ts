import type { NewEvent } from '@perdure/ports'
import type { LaneTable, RunFieldTable, RunFollowUpTable, RunTable, SessionFieldTable } from '../query/schema.ts'
import type { ResponseColumns } from '../rows/idempotency-row.ts'
import type { NewMessageRow } from '../rows/message-row.ts'
import type { ChangedRunColumns } from '../rows/run-writes.ts'
import type { NewSessionRow } from '../rows/session-row.ts'
import type { NewStepRow } from '../rows/step-row.ts'
import type { ChangedStepColumns } from '../rows/step-writes.ts'

export type RunChangeRow = ChangedRunColumns & Pick<RunTable, 'id'>
export type StepChangeRow = ChangedStepColumns & Pick<NewStepRow, 'run_id' | 'seq'>
export type StepKeyRow = Pick<NewStepRow, 'run_id' | 'seq'>
export type ResponseRow = ResponseColumns & { readonly id: string }
export type TakenSlotRow = LaneTable & { readonly now: number }
export type SessionChangeRow = Pick<NewSessionRow, 'id' | 'last_seq' | 'updated_at'>

/** The rows that the commits of a group write. */
export interface GroupChanges {
  readonly runs: RunTable[]
  readonly runFields: RunFieldTable[]
  readonly runChanges: RunChangeRow[]
  readonly followUps: RunFollowUpTable[]
  /** Runs that free the slots which they hold. */
  readonly freed: string[]
  readonly slots: TakenSlotRow[]
  readonly sessions: NewSessionRow[]
  readonly sessionFields: SessionFieldTable[]
  readonly sessionChanges: SessionChangeRow[]
  readonly steps: NewStepRow[]
  readonly restarts: StepKeyRow[]
  readonly stepChanges: StepChangeRow[]
  readonly messages: NewMessageRow[]
  readonly responses: ResponseRow[]
  readonly events: NewEvent[]
}

export const noChanges = (): GroupChanges => ({
  runs: [],
  runFields: [],
  runChanges: [],
  followUps: [],
  freed: [],
  slots: [],
  sessions: [],
  sessionFields: [],
  sessionChanges: [],
  steps: [],
  restarts: [],
  stepChanges: [],
  messages: [],
  responses: [],
  events: [],
})

/** Adds the changes of one commit to those of its group. */
export function addChanges(all: GroupChanges, changes: GroupChanges): void {
  for (const name of Object.keys(all) as (keyof GroupChanges)[]) (all[name] as unknown[]).push(...changes[name])
}
