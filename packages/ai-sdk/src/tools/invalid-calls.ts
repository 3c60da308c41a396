import type { RunContext } from '@perdure/core'
import type { FindRun } from '../run.ts'
import { isFunction, isObject, type Options } from '../sdk.ts'

const REPAIRS = ['repairToolCall', 'experimental_repairToolCall'] as const

/**
 * The options with a repair that is recorded, because it may call a model, and that reports the calls which stay invalid:
 * the SDK executes nothing for them, so no tool would end them in the log.
 */
export function withRepairs(find: FindRun, options: Options): Options {
  const name = REPAIRS.find((one) => isFunction(options[one])) ?? 'experimental_repairToolCall'
  const repair = options[name]
  const durable = async (call: Options): Promise<unknown> => {
    const { ctx, isInsideCall } = find()
    if (isInsideCall) return isFunction(repair) ? repair(call) : null
    const repaired = isFunction(repair)
      ? await ctx.step('repair tool call', async () => (await repair(call)) ?? null)
      : null
    if (repaired === null && isObject(call.toolCall)) report(ctx, { ...call.toolCall, error: call.error })
    return repaired
  }
  return { ...options, [name]: durable }
}

/** The options with a callback that reports the invalid calls for which the SDK has asked for no repair. */
export function withInvalidCalls(find: FindRun, options: Options): Options {
  const name = isFunction(options.onStepEnd) ? 'onStepEnd' : 'onStepFinish'
  const own = options[name]
  const onStepEnd = (step: Options): unknown => {
    const { ctx, isInsideCall } = find()
    const content = Array.isArray(step.content) ? step.content : []
    const invalid = isInsideCall ? [] : content.filter((part) => isObject(part) && part.invalid === true)
    for (const call of invalid) if (!reportedIn(ctx).delete(String(call.toolCallId))) report(ctx, call)
    return isFunction(own) ? own(step) : undefined
  }
  return { ...options, [name]: onStepEnd }
}

/** The ids of the calls that were reported before the end of their step. */
const reported = new WeakMap<object, Set<string>>()

function reportedIn(ctx: RunContext): Set<string> {
  const ids = reported.get(ctx) ?? new Set()
  reported.set(ctx, ids)
  return ids
}

function report(ctx: RunContext, { toolCallId, error, providerExecuted }: Options): void {
  if (typeof toolCallId !== 'string' || providerExecuted === true) return
  reportedIn(ctx).add(toolCallId)
  const { name, message } = isObject(error) ? error : { name: '', message: error }
  const kind = name === 'AI_NoSuchToolError' ? 'unknown_tool' : 'invalid_input'
  void ctx.emit('tool.result', { toolCallId, error: { kind, message: String(message) } })
}
