import { perdureError, type StreamAnswer } from '@perdure/ports'
import type { ErrorCode } from '@perdure/protocol'
import { targetOf } from '../chat/limited-streams.ts'
import { findRun } from '../chat/rights.ts'
import { type AnswersDeps, takeAnswer } from './answers.ts'
import { parseCursor } from './cursor.ts'
import {
  type Client,
  clientOf,
  createToResult,
  LEGACY_VERSIONS,
  legacyClient,
  MODERN_VERSION,
  sessionIdOf,
  TASKS_EXTENSION,
} from './era.ts'
import {
  accepted,
  isRequest,
  isRpcRefusal,
  objectIn,
  RPC_ERRORS,
  type RpcAnswer,
  type RpcMessage,
  type RpcRefusal,
  type RpcRequest,
  refusalAnswer,
  rpcAnswer,
} from './json-rpc.ts'
import { createListen, type ListenDeps } from './listen.ts'
import type { McpCall } from './mcp-call.ts'
import { createTasks } from './tasks.ts'
import { createToolCalls, type ToolCallsDeps } from './tool-calls.ts'
import { createTools, type ToolsDeps } from './tools.ts'

export interface McpServerDeps extends ToolCallsDeps, ToolsDeps, AnswersDeps, ListenDeps {
  readonly version: string
}

/** The MCP server: agents and workflows as tools. */
export interface McpServer {
  /** Answers one message of a client. @throws PerdureError `agent-not-found`, and others that the HTTP layer answers */
  send(call: McpCall, message: RpcMessage): Promise<StreamAnswer | RpcAnswer>
  /** Resumes the answer to an earlier request. @throws PerdureError `agent-not-found`, `run-not-found`, `overloaded` */
  resume(call: McpCall): Promise<StreamAnswer | RpcAnswer>
}

type Handler = (call: McpCall, request: RpcRequest, client: Client) => object | Promise<object>

const PAGE_SIZE = 200

const INSTRUCTIONS =
  'Each tool starts a durable run. If a run takes long, the call returns its runId: call perdure_run_wait to get the result.'

export function createMcpServer(deps: McpServerDeps): McpServer {
  const serverInfo = { name: 'perdure', title: 'Perdure', version: deps.version }
  const toResult = createToResult(serverInfo)
  const tools = createTools(deps)
  const calls = createToolCalls(deps, { tools, toResult })
  const tasks = createTasks(deps)

  const initialize: Handler = (_, { params }) => {
    const asked = params?.protocolVersion
    const protocolVersion = LEGACY_VERSIONS.find((version) => version === asked) ?? LEGACY_VERSIONS[0]
    const result = { protocolVersion, capabilities: { tools: {} }, serverInfo, instructions: INSTRUCTIONS }
    return { result, headers: { 'Mcp-Session-Id': sessionIdOf(objectIn(params, 'capabilities')) } }
  }

  const discover: Handler = () => ({
    result: {
      supportedVersions: [MODERN_VERSION],
      capabilities: { tools: {}, extensions: { [TASKS_EXTENSION]: {} } },
      instructions: INSTRUCTIONS,
      ...CACHING,
    },
  })

  const listTools: Handler = (call, { params }, { era }) => {
    const cursor = params?.cursor
    const all = tools.list(call).filter(({ name }) => typeof cursor !== 'string' || name > cursor)
    const page = all.slice(0, PAGE_SIZE)
    const nextCursor = all.length > page.length ? page.at(-1)?.name : undefined
    return {
      result: {
        tools: page,
        ...(nextCursor === undefined ? {} : { nextCursor }),
        ...(era === 'modern' ? CACHING : {}),
      },
    }
  }

  const handlers: Readonly<Record<Client['era'], Readonly<Record<string, Handler>>>> = {
    legacy: { initialize, ping: () => ({ result: {} }), 'tools/list': listTools, 'tools/call': calls.call },
    modern: {
      'server/discover': discover,
      'tools/list': listTools,
      'tools/call': calls.call,
      'tasks/get': tasks.get,
      'tasks/update': tasks.update,
      'tasks/cancel': tasks.cancel,
      'subscriptions/listen': createListen(deps, toResult),
    },
  }

  const handle = async (call: McpCall, request: RpcRequest): Promise<object> => {
    const client = clientOf(request, call.header)
    if (isRpcRefusal(client)) return client
    const { [request.method]: handler } = handlers[client.era]
    if (handler === undefined || !Object.hasOwn(handlers[client.era], request.method))
      return unknownMethod(client, request)
    const answer = await handler(call, request, client)
    if (!('result' in answer)) return answer
    return { ...answer, result: toResult(client, answer.result as object) }
  }

  return {
    async send(call, message) {
      tools.check(call)
      if (isRequest(message)) {
        const answer = await handle(call, message)
        if (isWhole(answer)) return answer
        if (isRpcRefusal(answer)) return refusalAnswer(message.id, answer)
        const { result, headers } = answer as { readonly result: object; readonly headers?: Record<string, string> }
        return rpcAnswer({ id: message.id, result }, 200, headers)
      }
      if (typeof message.method === 'string') return accepted()
      if (typeof message.id !== 'string' || message.result === undefined) return acceptedUnless(message)
      await takeAnswer(deps, call, message.id, message.result)
      return accepted()
    },
    async resume(call) {
      tools.check(call)
      const { lastEventId, agentId } = call
      const cursor = lastEventId === undefined ? undefined : parseCursor(lastEventId)
      if (lastEventId === undefined) return noStream()
      if (cursor === undefined) throw perdureError('run-not-found')
      const { runId, requestId, progressToken, frameId } = cursor
      const run = await findRun(deps, call, runId)
      const isOfAgent = agentId === undefined || (run?.kind === 'agent' && run.targetId === agentId)
      if (run === undefined || !isOfAgent) throw perdureError('run-not-found')
      const client = { ...legacyClient({}, call.header), progressToken }
      const target = targetOf(run)
      return calls.follow(call, { runId, target, requestId, client, lastEventId: frameId, start: 'first' })
    },
  }
}

const isWhole = (answer: object): answer is StreamAnswer | RpcAnswer => 'stream' in answer || 'text' in answer

/** The server sends nothing on its own, so there is no stream to open. Clients expect 405 from such a server. */
const noStream = (): RpcAnswer =>
  rpcAnswer(
    {
      id: null,
      error: {
        code: RPC_ERRORS.invalidRequest,
        message: 'GET needs the header Last-Event-ID, to resume a response; send messages with POST',
        data: { code: 'method-not-allowed' satisfies ErrorCode },
      },
    },
    405,
    { Allow: 'POST' },
  )

const CACHING = { ttlMs: 0, cacheScope: 'private' } as const

/** An answer of a client that is neither a result nor an error is no JSON-RPC message. */
function acceptedUnless(message: RpcMessage): RpcAnswer {
  if (message.error !== undefined || message.result !== undefined) return accepted()
  throw perdureError('validation-failed', { message: 'body: a message needs method, result or error' })
}

const unknownMethod = ({ era }: Client, { method }: RpcRequest): RpcRefusal => ({
  ...{ code: RPC_ERRORS.methodNotFound, message: `unknown method ${method.slice(0, 64)}` },
  status: era === 'modern' ? 404 : 200,
})
