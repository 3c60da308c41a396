import type { ToolCall } from '@perdure/core'
import type { ToolContext } from './run-context.ts'

/** A tool of the AI SDK, version 6 or 7. */
export interface ToolLike {
  // biome-ignore lint/suspicious/noExplicitAny: each version of the AI SDK has types of its own
  readonly execute?: ((input: any, options: any) => any) | undefined
}

type Approval = ToolCall['approval']

export interface DurableToolOptions<Input = unknown>
  extends Pick<ToolCall, 'timeout' | 'retries' | 'recoveries' | 'onCrash'> {
  /** Asks a person for approval first. */
  readonly approval?: Approval | ((input: Input) => Approval)
}

interface SdkOptions {
  readonly toolCallId?: string
  readonly abortSignal?: AbortSignal
}

/**
 * A tool that runs as `ctx.tool`: recorded, counted, and executed only after the approval that the options ask for. It keeps
 * the id of the model's call. A failure is thrown, so that the model is told its message.
 */
export function durableTool<Tool extends ToolLike>(
  ctx: ToolContext,
  name: string,
  tool: Tool,
  { approval, ...options }: DurableToolOptions = {},
): Tool {
  const { execute } = tool
  if (typeof execute !== 'function') throw new TypeError(`durableTool: the tool ${name} has no function execute`)
  const durable = async (input: unknown, sdk: SdkOptions = {}) => {
    const toolCallId = takeId(ctx, sdk.toolCallId)
    const asked = typeof approval === 'function' ? approval(input) : approval
    const outcome = await ctx.tool({
      ...{ name, args: input, ...options },
      ...(toolCallId === undefined ? {} : { toolCallId }),
      ...(asked === undefined ? {} : { approval: asked }),
      execute: (args, call) =>
        settle(
          ctx,
          execute(args, { ...sdk, abortSignal: call.signal, idempotencyKey: call.idempotencyKey }),
          toolCallId,
        ),
    })
    if (outcome.ok) return outcome.value
    throw Object.assign(new Error(outcome.error.message), { kind: outcome.error.kind })
  }
  return { ...tool, execute: durable }
}

/** The last value of a tool that yields preliminary results, each of which is shown. */
async function settle(ctx: ToolContext, result: unknown, toolCallId: string | undefined): Promise<unknown> {
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return result
  let last: unknown
  for await (const value of result as AsyncIterable<unknown>) {
    last = value
    if (toolCallId !== undefined) void ctx.emit('tool.result', { toolCallId, result: value, preliminary: true })
  }
  return last
}

const TAKEN = new WeakMap<object, Map<string, number>>()
const VISIBLE = /^[\x21-\x7e]{1,120}$/

/** The id of the model's call, with a number if the model has used it before in this execution. */
function takeId(ctx: ToolContext, id: string | undefined): string | undefined {
  if (id === undefined || !VISIBLE.test(id)) return undefined
  const taken = TAKEN.get(ctx) ?? new Map<string, number>()
  TAKEN.set(ctx, taken)
  const count = (taken.get(id) ?? 0) + 1
  taken.set(id, count)
  return count === 1 ? id : `${id}.${count}`
}
