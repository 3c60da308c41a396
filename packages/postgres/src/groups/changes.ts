import type { NewEvent } from '@perdure/ports'
import type {
  ChangedRunColumns,
  ChangedStepColumns,
  LaneRow,
  MessageRow,
  NotedMessage,
  ResponseColumns,
  RunFieldTable,
  RunRow,
  SessionFieldTable,
  SessionRow,
  StepRow,
} from '@perdure/storage'

export type RunFieldRow = RunFieldTable & { readonly run_id: string }
export type RunFollowUpRow = { readonly run_id: string }
export type SessionFieldRow = SessionFieldTable & { readonly session_id: string }
export type RunChangeRow = ChangedRunColumns & Pick<RunRow, 'id'>
export type StepChangeRow = ChangedStepColumns & Pick<StepRow, 'run_id' | 'seq'>
export type StepKeyRow = Pick<StepRow, 'run_id' | 'seq'>
export type ResponseRow = ResponseColumns & { readonly id: string }
export type TakenSlotRow = LaneRow & { readonly now: number }
export type SessionChangeRow = Pick<SessionRow, 'id' | 'last_seq' | 'updated_at'>

/** The rows that the commits of a group write. */
export interface GroupChanges {
  readonly runs: RunRow[]
  readonly runFields: RunFieldRow[]
  readonly runChanges: RunChangeRow[]
  readonly followUps: RunFollowUpRow[]
  /** Runs that free the slots which they hold. */
  readonly freed: string[]
  readonly slots: TakenSlotRow[]
  readonly sessions: SessionRow[]
  readonly sessionFields: SessionFieldRow[]
  readonly sessionChanges: SessionChangeRow[]
  readonly steps: StepRow[]
  readonly restarts: StepKeyRow[]
  readonly stepChanges: StepChangeRow[]
  readonly messages: MessageRow[]
  readonly noted: NotedMessage[]
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
  noted: [],
  responses: [],
  events: [],
})

/** Adds the changes of one commit to those of its group. */
export function addChanges(all: GroupChanges, changes: GroupChanges): void {
  for (const name of Object.keys(all) as (keyof GroupChanges)[]) (all[name] as unknown[]).push(...changes[name])
}
