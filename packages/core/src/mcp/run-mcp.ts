import { definedMembers, isRefusal, type McpClient, type McpOutcome, type McpTool, perdureError } from '@perdure/ports'
import { type Duration, isPlainObject, toMilliseconds } from '@perdure/protocol'
import { checkMembers, durationProblem, refuseProblems } from '../durable/check-options.ts'
import type { ServiceCaller } from '../durable/service-caller.ts'
import type { StepOptions } from '../durable/step.ts'
import type { McpServers } from './mcp-servers.ts'

export interface McpCallOptions extends Pick<StepOptions, 'onCrash' | 'recoveries'> {
  /** `mcp.callTimeoutMs` is the upper limit. */
  readonly timeout?: Duration
}

/** The MCP servers that are configured or were added over REST. Every call is durable, like `ctx.step`. */
export interface RunMcp {
  /** Lists the tools of an MCP server. @throws PerdureError `step-failed` if the server does not exist or is unavailable */
  tools(serverId: string): Promise<readonly McpTool[]>
  /**
   * Calls a tool once and stores its answer. The call counts towards the tool-call budget of the run. A failure,
   * including an unknown server or tool, is returned as `{ ok: false, error }`. `onCrash` decides what happens to a
   * call that was in flight at a crash, as with `ctx.step`.
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
    checkMembers('ctx.mcp.call', options, ['timeout', 'onCrash', 'recoveries'])
    const { timeout, onCrash, recoveries } = options
    refuseProblems('ctx.mcp.call', [durationProblem('timeout', timeout, { min: 1 })])
    const timeoutMs = toMilliseconds(timeout)
    if (!isPlainObject(args)) {
      throw perdureError('validation-failed', { message: 'args: must be an object' })
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
      definedMembers({ onCrash, recoveries }),
    )
  },
})

const MAX_NAME = 256

function refusedOutcome(error: unknown): McpOutcome {
  if (!isRefusal(error)) throw error
  const isUnknown = error.code === 'mcp-server-not-found' || error.code === 'mcp-tool-not-found'
  return { ok: false, error: { kind: isUnknown ? 'unknown_tool' : 'execution_failed', message: error.message } }
}
