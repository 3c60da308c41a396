import {
  type IdGenerator,
  isRefusal,
  type McpCall,
  type McpClient,
  type McpOutcome,
  type McpTool,
  type Page,
  type PageQuery,
  perdureError,
  toJsonText,
  type Write,
} from '@perdure/ports'
import { pageByName } from '../collections/page-by-name.ts'
import { type RetryDeps, retryTransient } from '../concurrency/retry-transient.ts'
import { type CommitOnceDeps, commitOnce, toStoredResponse } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import type { PhaseHolder } from '../lifecycle/phase.ts'
import type { McpServers } from './mcp-servers.ts'

export interface UseMcpDeps extends CommitOnceDeps, RetryDeps {
  readonly servers: McpServers
  readonly mcpClient: McpClient
  readonly ids: IdGenerator
  readonly phase: PhaseHolder
}

/** Lists and calls the tools of MCP servers for the API. */
export interface UseMcp {
  /** @throws PerdureError `mcp-server-not-found`, `mcp-server-unavailable`, `mcp-host-denied`, `mcp-headers-denied` */
  tools(serverId: string, page: PageQuery): Promise<Page<McpTool>>
  /**
   * Calls a tool; a failure is returned as `{ ok: false, error }`. With an idempotency key, the tool is called at most
   * once: if the process crashes during the call, the answer to a repeated request says that the call may have taken
   * effect.
   *
   * @throws PerdureError the errors of `tools`, `mcp-tool-not-found`, `server-draining`; in these cases nothing was called
   */
  call(request: {
    readonly serverId: string
    readonly tool: string
    readonly arguments: McpCall['arguments']
    readonly key?: KeyedRequest | undefined
    readonly traceparent?: string | undefined
  }): Promise<Reply>
}

export function createUseMcp(deps: UseMcpDeps): UseMcp {
  const { servers, mcpClient, ids, phase, unitOfWork } = deps

  return {
    async tools(serverId, page) {
      const tools = await mcpClient.tools(await servers.endpoint(serverId))
      return pageByName(tools, ({ name }) => name, page)
    },
    async call({ serverId, tool, arguments: args, key, traceparent }) {
      if (phase.current() === 'draining') throw perdureError('server-draining', { retryAfter: 5_000 })
      const endpoint = await servers.endpoint(serverId)
      const tools = await mcpClient.tools(endpoint)
      if (!tools.some(({ name }) => name === tool)) throw perdureError('mcp-tool-not-found')
      const call: McpCall = { tool, arguments: args, traceparent }
      if (key === undefined) return toReply(await mcpClient.call(endpoint, call))

      const callId = ids.newId('call')
      const once = await commitOnce(deps, key, async () => ({
        ...{ writes: [], reply: { status: 202 }, runId: callId, remember: false, contentOf: null },
      }))
      if (once.kind === 'replayed') return once.reply
      const reply = toReply(await outcomeOf(deps, mcpClient.call(endpoint, call)))
      const complete = { type: 'idempotency.complete', runId: callId, response: toStoredResponse(reply) } as const
      await retryTransient(deps, () => unitOfWork.commit([complete]))
      return reply
    },
  }
}

/**
 * Never rejects: the idempotency key is already recorded, so even a call that was not sent or failed internally needs
 * an answer.
 */
async function outcomeOf({ logger }: UseMcpDeps, called: Promise<McpOutcome>): Promise<McpOutcome> {
  try {
    return await called
  } catch (error) {
    if (isRefusal(error)) return failed(error.message)
    logger.error('MCP call failed with an internal error', error)
    return failed('the server failed during the call; it may have taken effect')
  }
}

const failed = (message: string): McpOutcome => ({ ok: false, error: { kind: 'execution_failed', message } })

const toReply = (outcome: McpOutcome): Reply => ({ status: 200, body: outcome })

/**
 * Stores an answer for every key whose call was interrupted when its process ended. Must be committed before anything
 * executes, unless it names the process.
 */
export const interruptCalls = (executor?: string | { readonly nobody: true }): Write => ({
  type: 'idempotency.interrupt',
  executor,
  response: {
    status: 200,
    body: toJsonText({
      ok: false,
      error: { kind: 'execution_failed', message: 'the server stopped during the call; it may have taken effect' },
    }),
    contentType: 'application/json; charset=utf-8',
  },
})
