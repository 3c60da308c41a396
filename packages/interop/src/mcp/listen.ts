import { isFields } from '@perdure/core'
import type { RunRecord, RunStore } from '@perdure/ports'
import { targetOf } from '../chat/limited-streams.ts'
import { findRun } from '../chat/rights.ts'
import type { QuestionDigest } from './elicitation.ts'
import type { Client, ToResult } from './era.ts'
import { invalidParams, RPC_ERRORS, type RpcRefusal, type RpcRequest } from './json-rpc.ts'
import { notification, subscriptionMeta } from './listen-messages.ts'
import type { Answer, McpCall } from './mcp-call.ts'
import type { OpenJoinedStream } from './open-call-stream.ts'
import { createTaskProjector } from './task-projector.ts'
import { missingCapability } from './tasks.ts'

export interface ListenDeps {
  readonly runs: Pick<RunStore, 'find'>
  readonly openJoinedStream: OpenJoinedStream
  readonly digest: QuestionDigest
}

const MAX_TASKS = 100

/**
 * Streams the status of tasks: first as it is now, then each change. The stream follows from the log of the runs, so a
 * client whose stream breaks listens again and misses no status that still holds. It ends when every task has ended, and
 * at once if the client listens to nothing that this server notifies about.
 */
export function createListen({ runs, openJoinedStream, digest }: ListenDeps, toResult: ToResult) {
  return async (call: McpCall, { id, params }: RpcRequest, client: Client): Promise<Answer> => {
    const filter = params?.notifications
    if (!isFields(filter)) return invalidParams('params.notifications: must be an object')
    const { taskIds } = filter
    if (taskIds !== undefined && !client.hasTasks) return missingCapability
    if (taskIds !== undefined && !isListOfIds(taskIds)) {
      return invalidParams(`params.notifications.taskIds: must be a list of at most ${MAX_TASKS} strings`)
    }
    if (!call.acceptsEventStream) return needsStream
    const found = await Promise.all([...new Set(taskIds)].map((taskId) => findRun({ runs }, call, taskId)))
    const tasks = found.filter((run): run is RunRecord => run !== undefined)
    const notifications = taskIds === undefined ? {} : { taskIds: tasks.map((run) => run.id) }
    const result = toResult(client, { _meta: subscriptionMeta(id) })
    return openJoinedStream({
      streams: tasks.map((run) => ({
        ...{ runId: run.id, target: targetOf(run), visibility: call.visibility, start: 'now' },
        projector: createTaskProjector(digest, run, id),
        frameIdOf: () => undefined,
      })),
      tokenId: call.principal.tokenId,
      opening: [notification('notifications/subscriptions/acknowledged', { notifications }, id)],
      closing: [{ data: JSON.stringify({ jsonrpc: '2.0', id, result }) }],
    })
  }
}

const isListOfIds = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length <= MAX_TASKS && value.every((one) => typeof one === 'string')

const needsStream: RpcRefusal = {
  code: RPC_ERRORS.invalidRequest,
  message: 'subscriptions/listen is answered with an event stream: the header Accept must allow text/event-stream',
  status: 400,
}
