import { AsyncLocalStorage } from 'node:async_hooks'
import type { ChunkLimits } from '../model/chunk-watch.ts'
import { follow, ownedController } from '../model/linked-signal.ts'
import type { FindRun } from '../run.ts'
import { isObject, type Options } from '../sdk.ts'

/** The option `timeout` of a call, divided among those who can honour it across executions. */
export interface Timeouts {
  readonly totalMs: number | undefined
  /** Time limit for each answer of the model. */
  readonly stepMs: number | undefined
  /** Time limits within a streamed answer. */
  readonly chunks: ChunkLimits
  readonly toolMsOf: (name: string) => number | undefined
  /** The limits that the SDK enforces. */
  readonly sdk: Options | undefined
}

/** The SDK warns of limits of chunks where an answer is not streamed. */
export function timeoutsOf(timeout: unknown, { isStreamed }: { readonly isStreamed: boolean }): Timeouts {
  const { totalMs, stepMs, toolMs, tools, ...others } = isObject(timeout) ? timeout : { totalMs: timeout }
  const { firstChunkMs, chunkMs, ...withoutChunks } = others
  const rest = isStreamed ? withoutChunks : others
  const ofTools = isObject(tools) ? tools : {}
  return {
    totalMs: numberOf(totalMs),
    stepMs: numberOf(stepMs),
    chunks: { firstMs: numberOf(firstChunkMs), nextMs: numberOf(chunkMs) },
    toolMsOf: (name) => numberOf(ofTools[`${name}Ms`]) ?? numberOf(toolMs),
    sdk: Object.keys(rest).length === 0 ? undefined : rest,
  }
}

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

const MAX_TIMER_MS = 2 ** 31 - 1

/** Aborts with the run, with the caller's signal, and when the time is over that began in the first execution. */
export function callSignal(find: FindRun, given: unknown, totalMs: number | undefined): AbortSignal {
  const { ctx } = find()
  if (!(given instanceof AbortSignal) && totalMs === undefined) return ctx.signal
  const controller = ownedController(ctx.signal)
  if (given instanceof AbortSignal) follow(controller, given)
  if (totalMs !== undefined) limit(find, totalMs, controller)
  return controller.signal
}

function limit(find: FindRun, totalMs: number, controller: AbortController): void {
  const { ctx, isInsideCall } = find()
  const begun = isInsideCall ? Promise.resolve(Date.now()) : ctx.step('timeout begins', () => Date.now())
  begun.then(
    (startedAt) => expireAt(startedAt + totalMs, totalMs, controller),
    () => undefined,
  )
}

function expireAt(dueAt: number, totalMs: number, controller: AbortController): void {
  const delayMs = Math.min(Math.max(0, dueAt - Date.now()), MAX_TIMER_MS)
  const timer = outside(() => setTimeout(expireOf(new WeakRef(controller), totalMs), delayMs).unref())
  timers.register(controller, timer)
}

/** Runs a function in the context of no run: a timer keeps the context in which it is set. */
const outside = AsyncLocalStorage.snapshot()

/** A function of its own, because a closure in `expireAt` would refer to the controller. */
const expireOf = (controller: WeakRef<AbortController>, totalMs: number) => () =>
  controller.deref()?.abort(new DOMException(`the call took longer than ${totalMs} ms`, 'TimeoutError'))

const timers = new FinalizationRegistry<NodeJS.Timeout>(clearTimeout)
