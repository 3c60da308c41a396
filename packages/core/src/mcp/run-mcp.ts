import { AppError, type McpClient, type McpOutcome, type McpTool } from '@perdure/ports'
import { isPlainObject } from '@perdure/protocol'
import { checkMembers } from '../durable/check-options.ts'
import type { ServiceCaller } from '../durable/service-caller.ts'
import type { StepOptions } from '../durable/step.ts'
import type { McpServers } from './mcp-servers.ts'

export interface McpCallOptions extends Pick<StepOptions, 'onCrash'> {
  /** Milliseconds; never longer than `mcp.callTimeoutMs`. */
  readonly timeoutMs?: number
}

/** MCP servers, as the code of a run sees them. Every call is durable, like `ctx.step`. */
export interface RunMcp {
  /** @throws AppError `step-failed` when there is no such server, or it is unavailable */
  tools(serverId: string): Promise<readonly McpTool[]>
  /**
   * Calls a tool once; its answer is stored. It counts in the run's budget of tool calls. How it fails, an unknown server or tool included, is data. What becomes of a
   * call that was under way at a crash is said by `onCrash`, as with `ctx.step`.
   */
  call(
    serverId: string,
    tool: string,
    args?: Readonly<Record<string, unknown>>,
    options?: McpCallOptions,
  ): Promise<McpOutcome>
}

export interface RunMcpDeps {
  readonly servers: McpServers
  readonly mcpClient: McpClient
}

/** `ctx.mcp`. */
export const createRunMcp = ({ servers, mcpClient }: RunMcpDeps, { step, tool: callTool }: ServiceCaller): RunMcp => ({
  tools: (serverId) => step('mcp.tools', async () => mcpClient.tools(await servers.endpoint(String(serverId)))),
  async call(serverId, tool, args = {}, options = {}) {
    checkMembers('ctx.mcp.call', options, ['timeoutMs', 'onCrash'])
    const { timeoutMs, onCrash } = options
    if (!isPlainObject(args)) {
      throw new AppError('validation-failed', { message: 'the arguments of a tool are an object' })
    }
    const name = `${serverId}.${tool}`.slice(0, MAX_NAME)
    return callTool<McpOutcome>(
      name,
      async ({ signal, traceparent }) => {
        try {
          const endpoint = await servers.endpoint(String(serverId))
          const call = { tool: String(tool), arguments: args, timeoutMs, signal, traceparent }
          return await mcpClient.call(endpoint, call)
        } catch (error) {
          return refusedOutcome(error)
        }
      },
      onCrash === undefined ? {} : { onCrash },
    )
  },
})

const MAX_NAME = 256

function refusedOutcome(error: unknown): McpOutcome {
  if (!(error instanceof AppError)) throw error
  const isUnknown = error.id === 'mcp-server-not-found' || error.id === 'mcp-tool-not-found'
  return { ok: false, error: { kind: isUnknown ? 'unknown_tool' : 'execution_failed', message: error.message } }
}
