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

const listOf = <Row>(): Row[] => []

/** The rows that the commits of a group write. */
export const noChanges = () => ({
  runs: listOf<RunRow>(),
  runFields: listOf<RunFieldRow>(),
  runChanges: listOf<RunChangeRow>(),
  followUps: listOf<RunFollowUpRow>(),
  freed: listOf<string>(), // runs that free the slots which they hold
  slots: listOf<TakenSlotRow>(),
  sessions: listOf<SessionRow>(),
  sessionFields: listOf<SessionFieldRow>(),
  sessionChanges: listOf<SessionChangeRow>(),
  steps: listOf<StepRow>(),
  restarts: listOf<StepKeyRow>(),
  stepChanges: listOf<StepChangeRow>(),
  messages: listOf<MessageRow>(),
  noted: listOf<NotedMessage>(),
  responses: listOf<ResponseRow>(),
  events: listOf<NewEvent>(),
})

export type GroupChanges = Readonly<ReturnType<typeof noChanges>>

/** Adds the changes of one commit to those of its group. */
export function addChanges(all: GroupChanges, changes: GroupChanges): void {
  for (const name of Object.keys(all) as (keyof GroupChanges)[]) (all[name] as unknown[]).push(...changes[name])
}
