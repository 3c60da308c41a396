import type { AbortRun, Transcript } from '@perdure/core'
import { isRefusal, type RunRecord } from '@perdure/ports'
import { findRun } from '../chat/rights.ts'
import { type AnswersDeps, takeAnswers } from './answers.ts'
import { resultOf } from './call-result.ts'
import type { QuestionDigest } from './elicitation.ts'
import { type Client, TASKS_EXTENSION } from './era.ts'
import { invalidParams, RPC_ERRORS, type RpcRefusal, type RpcRequest } from './json-rpc.ts'
import type { Answer, McpCall } from './mcp-call.ts'
import { inputRequestsOf, openQuestions } from './projector.ts'
import { readTranscript } from './read-transcript.ts'

export interface TasksDeps extends AnswersDeps {
  readonly abortRun: AbortRun
  readonly digest: QuestionDigest
}

const POLL_MS = 1_000

type TaskHandler = (call: McpCall, request: RpcRequest, client: Client) => Promise<Answer>

/** Runs as tasks, which a client polls. The id of a task is the id of its run. */
export function createTasks(deps: TasksDeps): { readonly [Verb in 'get' | 'update' | 'cancel']: TaskHandler } {
  const withRun =
    (handle: (call: McpCall, run: RunRecord, request: RpcRequest) => Promise<Answer>): TaskHandler =>
    async (call, request, client) => {
      if (!client.hasTasks) return missingCapability
      const { taskId } = request.params ?? {}
      const run = typeof taskId === 'string' ? await findRun(deps, call, taskId) : undefined
      return run === undefined ? invalidParams('params.taskId: no such task') : handle(call, run, request)
    }

  return {
    get: withRun(async ({ charge }, run) => {
      const transcript = await readTranscript(deps, run, charge)
      return { result: detailedTask(deps.digest, toTask(run, transcript), transcript) }
    }),

    update: withRun(async (call, _, { params }) => {
      const answered = await takeAnswers(deps, call, params?.inputResponses)
      return 'code' in answered ? answered : { result: {} }
    }),

    cancel: withRun(async ({ principal, visibility }, { id: runId }) => {
      const via = { protocol: 'mcp' }
      await deps.abortRun({ runId, reason: 'cancelled by the client', principal, visibility, via }).catch(passEnded)
      return { result: {} }
    }),
  }
}

function passEnded(error: unknown): void {
  if (!(isRefusal(error) && error.code === 'run-not-active')) throw error
}

export const missingCapability: RpcRefusal = {
  code: RPC_ERRORS.missingCapability,
  message: `the client has not declared the extension ${TASKS_EXTENSION}`,
  data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
  status: 400,
}

/** The members that every form of a task has. */
interface Task {
  readonly taskId: string
  readonly status: string
  readonly createdAt: string
  readonly lastUpdatedAt: string
  readonly ttlMs: null
  readonly pollIntervalMs: number
}

/** The task as its run is stored. */
export function toTask(run: RunRecord, transcript: Transcript): Task {
  const { createdAt, startedAt, suspendedAt, completedAt } = run
  return taskAt(run, transcript, new Date(completedAt ?? suspendedAt ?? startedAt ?? createdAt).toISOString())
}

/** The task when its run was in the state of the transcript. */
export const taskAt = (
  { id, createdAt }: Pick<RunRecord, 'id' | 'createdAt'>,
  transcript: Transcript,
  lastUpdatedAt: string,
): Task => ({
  taskId: id,
  status: taskStatus(transcript),
  createdAt: new Date(createdAt).toISOString(),
  lastUpdatedAt,
  ttlMs: null,
  pollIntervalMs: POLL_MS,
})

/** A run that has failed is a completed task whose result is an error. */
function taskStatus(transcript: Transcript): string {
  const { status } = transcript
  if (status === 'completed' || status === 'failed') return 'completed'
  if (status === 'aborted') return 'cancelled'
  return openQuestions(transcript).length > 0 ? 'input_required' : 'working'
}

/** The task with the result of its run, or with what the run waits for. */
export function detailedTask(
  digest: QuestionDigest,
  task: Task,
  transcript: Transcript,
): Task & { readonly inputRequests?: object } {
  if (task.status === 'completed') return { ...task, ...{ result: resultOf(transcript) } }
  return task.status === 'input_required'
    ? { ...task, inputRequests: inputRequestsOf(digest, openQuestions(transcript)) }
    : task
}
