import {
  AppError,
  EVERY_ROW,
  type JsonText,
  type OutlinedStep,
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
import type { PageItem } from '../json/json-page.ts'
import { jsonPieces } from '../json/json-pieces.ts'
import { findThread, type ThreadRef } from '../runs/find-thread.ts'
import { codeWait, parkReasonOf } from '../runs/parked.ts'
import type { WaitingFor } from '../runs/run-outcome.ts'
import { toWaitingFor } from '../runs/waiting-for.ts'
import type { WorkflowRegistry } from '../targets/workflow-registry.ts'

export interface WorkflowThreadsDeps {
  readonly workflows: WorkflowRegistry
  readonly runs: RunStore
  readonly steps: StepStore
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
  /**
   * A page of the completed calls of the newest run, ordered by `seq`, each as JSON.
   *
   * @throws AppError `validation-failed` for an invalid cursor
   */
  checkpoints(thread: ThreadRef, page: PageQuery): Promise<Page<PageItem>>
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
      const recorded = await steps.list(run.id, { results: false })
      const waits = recorded.filter(({ status }) => status === 'waiting')
      const reason = parkReasonOf(run)
      const last = recorded
        .filter(({ status }) => status === 'completed')
        .sort(byEndOrder)
        .at(-1)
      return {
        threadId: thread.threadId,
        runId: run.id,
        status: run.status,
        waitingFor: isTerminal(run.status) ? [] : reason === undefined ? waits.map(toWaitingFor) : [codeWait(reason)],
        steps: recorded.map(({ seq, name, kind, status }) => ({ seq, name, kind, status })),
        checkpointId: last === undefined ? null : checkpointIdOf(last),
      }
    },
    async checkpoints(thread, page) {
      const run = await newestRun(thread, EVERY_ROW)
      const { items, nextCursor } = await steps.completed(run.id, page)
      return { items: items.map((step) => renderCheckpoint(step, thread.threadId)), nextCursor }
    },
  }
}

const byEndOrder = (a: StepRecord, b: StepRecord) => (a.endOrder ?? 0) - (b.endOrder ?? 0)

const NULL = 'null' as JsonText

const renderCheckpoint = (step: OutlinedStep, threadId: string): PageItem =>
  jsonPieces(
    {
      id: checkpointIdOf(step),
      threadId,
      seq: step.seq,
      step: step.name,
      createdAt: new Date(step.endedAt ?? step.startedAt).toISOString(),
    },
    { result: step.result ?? NULL },
  )
