import type { Conflict, EpochMs, RunRecord } from '@perdure/ports'
import { isTurn } from '../runs/turn.ts'

/** The start time changes with the input: of a debounced run, and of a message that is edited while it waits. */
export const contentOf = (run: RunRecord): EpochMs | null | undefined => {
  const { flow, startAt, execution } = run
  if (flow?.debounce !== undefined) return startAt
  return isTurn(run) && execution === 1 ? (startAt ?? null) : undefined
}

type Edited = Conflict & { readonly type: 'run.transition'; readonly current: RunRecord }

/** Whether the run could not start because its message was edited meanwhile. */
export const wasEdited = ({ attempt }: RunRecord, conflict: Conflict): conflict is Edited =>
  conflict.type === 'run.transition' &&
  conflict.current?.status === 'queued' &&
  conflict.current.execution === 0 &&
  conflict.current.attempt === attempt
