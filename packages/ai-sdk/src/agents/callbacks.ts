import { type FindRun, hasEnded } from '../run.ts'
import { isFunction, type Options } from '../sdk.ts'

/** Callbacks that are called once per run: what happened is recorded, so a re-execution does not report it again. */
const ONCE = [
  'onStepEnd',
  'onStepFinish',
  'onStepError',
  'onEnd',
  'onFinish',
  'onError',
  'onAbort',
  'onToolExecutionEnd',
  'experimental_onToolCallFinish',
] as const

/** The options with callbacks that are recorded. */
export function withCallbacks(find: FindRun, options: Options): Options {
  const recorded = ONCE.flatMap((name) => {
    const callback = options[name]
    return isFunction(callback) ? [[name, once(find, name, callback)] as const] : []
  })
  return recorded.length === 0 ? options : { ...options, ...Object.fromEntries(recorded) }
}

function once(find: FindRun, name: string, callback: (...args: readonly unknown[]) => unknown) {
  return async (event: unknown): Promise<unknown> => {
    const { ctx, isInsideCall } = find()
    if (isInsideCall) return callback(event)
    // An aborted run makes no calls any more.
    if (ctx.signal.aborted) return name === 'onAbort' && hasEnded(ctx) ? callback(event) : undefined
    try {
      return (await ctx.step(name, async () => (await callback(event)) ?? null)) ?? undefined
    } catch (error) {
      // The SDK ignores what a callback throws.
      ctx.log.error(`${name} failed`, error)
      throw error
    }
  }
}
