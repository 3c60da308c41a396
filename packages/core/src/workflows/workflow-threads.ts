import {
  EVERY_ROW,
  type JsonText,
  type OutlinedStep,
  type Page,
  type PageQuery,
  perdureError,
  type RunRecord,
  type RunStore,
  type StepRecord,
  type StepStore,
  toJsonText,
  type Visibility,
  type YieldTurn,
} from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import { checkpointIdOf } from '../durable/step-events.ts'
import { type JsonParts, jsonListParts } from '../json/json-list-parts.ts'
import type { PageItem } from '../json/json-page.ts'
import { jsonPieces } from '../json/json-pieces.ts'
import { findThread, type ThreadRef } from '../runs/find-thread.ts'
import { codeWait, parkReasonOf } from '../runs/parked.ts'
import type { WaitingFor } from '../runs/run-outcome.ts'
import { type CallReads, callPages, callWaitPages } from '../runs/waiting-for.ts'
import type { WorkflowRegistry } from '../targets/workflow-registry.ts'

export interface WorkflowThreadsDeps {
  readonly workflows: WorkflowRegistry
  readonly runs: RunStore
  readonly steps: StepStore
  readonly yieldTurn: YieldTurn
}

/** Reads workflow threads. @throws PerdureError `workflow-not-found`, `thread-not-found` */
export interface WorkflowThreads {
  /** The status of the newest run, its recorded calls and what it waits for, part by part. */
  state(thread: ThreadRef): Promise<JsonParts>
  /**
   * A page of the completed calls of the newest run, ordered by `seq`, each as JSON.
   *
   * @throws PerdureError `validation-failed` for an invalid cursor
   */
  checkpoints(thread: ThreadRef, page: PageQuery): Promise<Page<PageItem>>
  /** The newest run of the thread. A thread whose newest run is not visible counts as missing. */
  newestRun(thread: ThreadRef, visibility: Visibility): Promise<RunRecord>
}

export function createWorkflowThreads(deps: WorkflowThreadsDeps): WorkflowThreads {
  const { workflows, runs, steps } = deps
  const newestRun = async (thread: ThreadRef, visibility: Visibility): Promise<RunRecord> => {
    workflows.get(thread.workflowId)
    const run = await findThread(runs, thread, visibility)
    if (run === undefined) throw perdureError('thread-not-found')
    return run
  }

  return {
    newestRun,
    async state(thread) {
      const run = await newestRun(thread, EVERY_ROW)
      return stateParts(deps, run, thread)
    },
    async checkpoints(thread, page) {
      const run = await newestRun(thread, EVERY_ROW)
      const { items, nextCursor } = await steps.completed(run.id, page)
      return { items: items.map((step) => renderCheckpoint(step, thread.threadId)), nextCursor }
    },
  }
}

async function* stateParts(
  reads: CallReads,
  run: RunRecord,
  { threadId }: ThreadRef,
): AsyncGenerator<string, void, void> {
  const { id: runId, status } = run
  yield `${toJsonText({ threadId, runId, status }).slice(0, -1)},"waitingFor":`
  yield* jsonListParts(threadWaits(reads, run))
  yield ',"steps":'
  let last: StepRecord | undefined
  const shownPages = async function* () {
    for await (const page of callPages(reads, runId)) {
      last = page.reduce(laterCompleted, last)
      yield page.map(({ seq, name, kind, status }) => ({ seq, name, kind, status }))
    }
  }
  yield* jsonListParts(shownPages())
  yield `,"checkpointId":${toJsonText(last === undefined ? null : checkpointIdOf(last))}}`
}

async function* threadWaits(reads: CallReads, run: RunRecord): AsyncGenerator<readonly WaitingFor[]> {
  const reason = parkReasonOf(run)
  if (reason !== undefined) yield [codeWait(reason)]
  else if (!isTerminal(run.status)) yield* callWaitPages(reads, run.id)
}

/** The later of two completed calls, by the time of their end. */
function laterCompleted(last: StepRecord | undefined, step: StepRecord): StepRecord | undefined {
  if (step.status !== 'completed') return last
  return (step.endOrder ?? 0) >= (last?.endOrder ?? 0) ? step : last
}

const NULL = 'null' as JsonText

const renderCheckpoint = (step: OutlinedStep, threadId: string): PageItem =>
  jsonPieces(
    {
      id: checkpointIdOf(step),
      threadId,
      seq: step.seq,
      step: step.name,
      createdAt: new Date(step.endedAt ?? step.startedAt).toISOString(),
      ...(step.resultFile === undefined ? {} : { resultFile: step.resultFile }),
    },
    { result: step.result ?? NULL },
  )
