import type { AbortRun } from '@perdure/core'
import { AppError, type RunRecord } from '@perdure/ports'
import { findRun } from '../chat/rights.ts'
import type { Transcript } from '../fold/transcript.ts'
import { type AnswersDeps, takeAnswers } from './answers.ts'
import { resultOf } from './call-result.ts'
import { type Client, TASKS_EXTENSION } from './era.ts'
import { invalidParams, RPC_ERRORS, type RpcRefusal, type RpcRequest } from './json-rpc.ts'
import type { Answer, McpCall } from './mcp-call.ts'
import { inputRequestsOf, openQuestions } from './projector.ts'
import { readTranscript } from './read-transcript.ts'

export interface TasksDeps extends AnswersDeps {
  readonly abortRun: AbortRun
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
    get: withRun(async (_, run) => {
      const transcript = await readTranscript(deps, run)
      return { result: { ...toTask(run, transcript), ...detailsOf(transcript) } }
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
  if (!(error instanceof AppError && error.id === 'run-not-active')) throw error
}

const missingCapability: RpcRefusal = {
  code: RPC_ERRORS.missingCapability,
  message: `the client has not declared the extension ${TASKS_EXTENSION}`,
  data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
  status: 400,
}

/** The members that every form of a task has. */
export function toTask(run: RunRecord, transcript: Transcript): object {
  const { id, createdAt, startedAt, suspendedAt, completedAt } = run
  return {
    taskId: id,
    status: taskStatus(transcript),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(completedAt ?? suspendedAt ?? startedAt ?? createdAt).toISOString(),
    ttlMs: null,
    pollIntervalMs: POLL_MS,
  }
}

/** A run that has failed is a completed task whose result is an error. */
function taskStatus(transcript: Transcript): string {
  const { status } = transcript
  if (status === 'completed' || status === 'failed') return 'completed'
  if (status === 'aborted') return 'cancelled'
  return openQuestions(transcript).length > 0 ? 'input_required' : 'working'
}

function detailsOf(transcript: Transcript): object {
  const status = taskStatus(transcript)
  if (status === 'completed') return { result: resultOf(transcript) }
  return status === 'input_required' ? { inputRequests: inputRequestsOf(openQuestions(transcript)) } : {}
}
