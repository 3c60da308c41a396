import { AsyncLocalStorage } from 'node:async_hooks'
import { executingRun } from '@perdure/core'

/** A call of a model by the SDK, and whether a durable model received it. */
interface ModelCall {
  isDurable: boolean
  /** Whether the code belongs to the step of a durable model, which reports the usage. */
  readonly isCounted?: boolean
}

const calls = new AsyncLocalStorage<ModelCall>()

export const markDurableCall = (): void => {
  const call = calls.getStore()
  if (call !== undefined) call.isDurable = true
}

/** Calls the model of a durable model: middleware below it may end at another durable model. */
export const countedCall = <T>(fn: () => T): T => calls.run({ isDurable: true, isCounted: true }, fn)

export const isCountedCall = (): boolean => calls.getStore()?.isCounted === true

const FOREIGN =
  'a model was called inside a run without a record, so a crash would call it again. Call it with durable(): ai.streamText(…), or ai.model(model); or inside ctx.step'

interface Integration {
  /** Version 7 calls a model by this function. */
  executeLanguageModelCall(call: { readonly execute: () => PromiseLike<unknown> }): Promise<unknown>
  /** Version 6 ignores what this function throws. */
  onStepFinish(): void
}

const GUARD: unique symbol = Symbol.for('perdure.model-guard') as never

/** Refuses models that the SDK calls inside a run, but outside of a durable model, a step and a tool. */
export function guardModelCalls(): void {
  const holder = globalThis as { AI_SDK_TELEMETRY_INTEGRATIONS?: unknown[]; [GUARD]?: true }
  if (holder[GUARD]) return
  holder[GUARD] = true
  holder.AI_SDK_TELEMETRY_INTEGRATIONS ??= []
  holder.AI_SDK_TELEMETRY_INTEGRATIONS.push(guard)
}

const guard: Pick<Integration, 'executeLanguageModelCall'> = {
  async executeLanguageModelCall({ execute }) {
    const executing = executingRun()
    if (executing === undefined || executing.call !== undefined) return execute()
    const call: ModelCall = { isDurable: false }
    const answer = await calls.run(call, execute)
    if (!call.isDurable) throw new Error(FOREIGN)
    return answer
  },
}
