import type { FindRun } from '../run.ts'
import { isObject, type Options } from '../sdk.ts'

/** The option `timeout` of a call, divided among those who can honour it across executions. */
export interface Timeouts {
  readonly totalMs: number | undefined
  /** Time limit for each answer of the model. */
  readonly stepMs: number | undefined
  readonly toolMsOf: (name: string) => number | undefined
  /** The limits that the SDK enforces. */
  readonly sdk: Options | undefined
}

export function timeoutsOf(timeout: unknown): Timeouts {
  const { totalMs, stepMs, toolMs, tools, ...rest } = isObject(timeout) ? timeout : { totalMs: timeout }
  const ofTools = isObject(tools) ? tools : {}
  return {
    totalMs: numberOf(totalMs),
    stepMs: numberOf(stepMs),
    toolMsOf: (name) => numberOf(ofTools[`${name}Ms`]) ?? numberOf(toolMs),
    sdk: Object.keys(rest).length === 0 ? undefined : rest,
  }
}

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

const MAX_TIMER_MS = 2 ** 31 - 1

/** Aborts with the run, with the caller's signal, and when the time is over that began in the first execution. */
export function callSignal(find: FindRun, given: unknown, totalMs: number | undefined): AbortSignal {
  const { ctx } = find()
  const own = given instanceof AbortSignal ? [given] : []
  const timed = totalMs === undefined ? [] : [timeSignal(find, totalMs)]
  return AbortSignal.any([ctx.signal, ...own, ...timed])
}

function timeSignal(find: FindRun, totalMs: number): AbortSignal {
  const { ctx, isInsideCall } = find()
  const controller = new AbortController()
  const begun = isInsideCall ? Promise.resolve(Date.now()) : ctx.step('timeout begins', () => Date.now())
  const expire = () => controller.abort(new DOMException(`the call took longer than ${totalMs} ms`, 'TimeoutError'))
  begun.then(
    (startedAt) => setTimeout(expire, Math.min(Math.max(0, startedAt + totalMs - Date.now()), MAX_TIMER_MS)).unref(),
    () => undefined,
  )
  return controller.signal
}
