import { DENIED_WITHOUT_REASON, type RunContext } from '@perdure/core'
import { isFunction, isObject } from '../sdk.ts'
import type { ToolLike } from './tool.ts'

const DENIED: unique symbol = Symbol.for('perdure.denied') as never

/** What a tool returns in place of its result when its call was denied. */
export interface Denied {
  readonly type: 'execution-denied'
  readonly reason?: string
}

/** The mark is not enumerable, so that the output is JSON. */
export function denied(reason: string | undefined): Denied {
  const output: Denied = { type: 'execution-denied', ...(reason === undefined ? {} : { reason }) }
  return Object.defineProperty(output, DENIED, { value: true })
}

/** Shows a denial as the end of the call. */
export function showDenial(ctx: RunContext, toolCallId: string, reason: string | undefined): void {
  const error = { kind: 'approval_denied', message: reason ?? DENIED_WITHOUT_REASON }
  void ctx.emit('tool.result', { toolCallId, error })
}

const isDenied = (output: unknown): output is Denied => isObject(output) && DENIED in output

/** What the model is told about a denied call, and else what the tool says or, without that, what the SDK would say. */
export function toModelOutput({ toModelOutput: own }: ToolLike): NonNullable<ToolLike['toModelOutput']> {
  return (result) => {
    const { output } = result
    if (isDenied(output)) return { type: 'execution-denied', reason: output.reason }
    if (isFunction(own)) return own(result)
    return typeof output === 'string' ? { type: 'text', value: output } : { type: 'json', value: jsonOf(output) }
  }
}

function jsonOf(value: unknown): unknown {
  const text = value === undefined ? undefined : JSON.stringify(value)
  return text === undefined ? null : JSON.parse(text)
}
