import {
  AppError,
  EVERY_ROW,
  fromJsonText,
  type Page,
  type PageQuery,
  type RunRecord,
  type RunStatus,
  type RunStore,
  type StepRecord,
  type StepStore,
  type Visibility,
} from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import { checkpointIdOf } from '../durable/step-events.ts'
import { findThread, type ThreadRef } from '../runs/find-thread.ts'
import type { WaitingFor } from '../runs/run-outcome.ts'
import { toWaitingFor } from '../runs/waiting-for.ts'
import type { WorkflowRegistry } from '../targets/workflow-registry.ts'

export interface WorkflowThreadsDeps {
  readonly workflows: WorkflowRegistry
  readonly runs: RunStore
  readonly steps: StepStore
}

export interface Checkpoint {
  readonly id: string
  readonly threadId: string
  readonly seq: number
  readonly step: string
  readonly result: unknown
  readonly createdAt: string
}

export interface ThreadState {
  readonly threadId: string
  readonly runId: string
  readonly status: RunStatus
  readonly waitingFor: readonly WaitingFor[]
  readonly steps: readonly {
    readonly seq: number
    readonly name: string
    readonly kind: string
    readonly status: string
  }[]
  readonly checkpointId: string | null
}

/** Reads workflow threads. @throws AppError `workflow-not-found`, `thread-not-found` */
export interface WorkflowThreads {
  state(thread: ThreadRef): Promise<ThreadState>
  /** Completed calls of the newest run, ordered by `seq`. @throws AppError `validation-failed` for an invalid cursor */
  checkpoints(thread: ThreadRef, page: PageQuery): Promise<Page<Checkpoint>>
  /** The newest run of the thread. A thread whose newest run is not visible counts as missing. */
  newestRun(thread: ThreadRef, visibility: Visibility): Promise<RunRecord>
}

export function createWorkflowThreads({ workflows, runs, steps }: WorkflowThreadsDeps): WorkflowThreads {
  const newestRun = async (thread: ThreadRef, visibility: Visibility): Promise<RunRecord> => {
    workflows.get(thread.workflowId)
    const run = await findThread(runs, thread, visibility)
    if (run === undefined) throw new AppError('thread-not-found')
    return run
  }

  return {
    newestRun,
    async state(thread) {
      const run = await newestRun(thread, EVERY_ROW)
      const recorded = await steps.list(run.id)
      const waits = recorded.filter(({ status }) => status === 'waiting')
      const last = recorded
        .filter(({ status }) => status === 'completed')
        .sort(byEndOrder)
        .at(-1)
      return {
        threadId: thread.threadId,
        runId: run.id,
        status: run.status,
        waitingFor: isTerminal(run.status) ? [] : waits.map(toWaitingFor),
        steps: recorded.map(({ seq, name, kind, status }) => ({ seq, name, kind, status })),
        checkpointId: last === undefined ? null : checkpointIdOf(last),
      }
    },
    async checkpoints(thread, { limit, cursor, order }) {
      const run = await newestRun(thread, EVERY_ROW)
      const all = (await steps.list(run.id)).filter(({ status }) => status === 'completed')
      const sorted = order === 'asc' ? all : all.toReversed()
      const boundarySeq = seqOfCursor(cursor)
      const from =
        boundarySeq === undefined
          ? 0
          : sorted.findIndex(({ seq }) => (order === 'asc' ? seq > boundarySeq : seq < boundarySeq))
      const items = from === -1 ? [] : sorted.slice(from, from + limit)
      const last = items.at(-1)
      return {
        items: items.map((step) => toCheckpoint(step, thread.threadId)),
        nextCursor: last !== undefined && last !== sorted.at(-1) ? String(last.seq) : null,
      }
    },
  }
}

function seqOfCursor(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined
  if (/^\d+$/.test(cursor)) return Number(cursor)
  throw new AppError('validation-failed', {
    message: 'cursor: belongs to another list',
    hint: 'omit the cursor to start at the first page',
  })
}

const byEndOrder = (a: StepRecord, b: StepRecord) => (a.endOrder ?? 0) - (b.endOrder ?? 0)

const toCheckpoint = (step: StepRecord, threadId: string): Checkpoint => ({
  id: checkpointIdOf(step),
  threadId,
  seq: step.seq,
  step: step.name,
  result: step.result === undefined ? null : fromJsonText(step.result),
  createdAt: new Date(step.endedAt ?? step.startedAt).toISOString(),
})
