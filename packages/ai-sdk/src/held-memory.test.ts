import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { defineAgent, type RunContext } from '@perdure/core'
import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Durable } from './durable-types.ts'
import { durable } from './index.ts'
import { serverWith } from './server.fixture.ts'
import { scriptedModel } from './testing.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const RUNS = 8

const model = scriptedModel([{ toolName: 'refund', input: { amount: 60 } }, 'Done.'])

const tools = {
  refund: tool({ inputSchema: z.object({ amount: z.number() }), needsApproval: true, execute: () => 'refunded' }),
}

/** Outlives every run, as a signal of a whole process does. */
const whole = new AbortController()

type Call = (ai: Durable, ctx: RunContext) => unknown

const CALLS: Readonly<Record<string, Call>> = {
  'of streamText': (ai) => ai.streamText({ model, tools, prompt: 'Hi' }),
  'of generateText': (ai) => ai.generateText({ model, tools, prompt: 'Hi' }),
  'with a signal that outlives it': (ai) => ai.streamText({ model, tools, prompt: 'Hi', abortSignal: whole.signal }),
  'with a time limit between chunks': (ai) =>
    ai.streamText({ model, tools, prompt: 'Hi', timeout: { chunkMs: 60_000 } }),
  'with a time limit of a day': (ai) => ai.streamText({ model, tools, prompt: 'Hi', timeout: 86_400_000 }),
}

describe('a run that waits for an approval', () => {
  it.each(Object.entries(CALLS))('leaves no memory behind: a call %s', async (_, call) => {
    const contexts: WeakRef<RunContext>[] = []
    const agent = defineAgent({
      id: 'shop',
      async run(_input, ctx) {
        contexts.push(new WeakRef(ctx))
        return call(durable(ctx), ctx) as never
      },
    })
    const { get } = await serverWith([agent])
    for (let run = 0; run < RUNS; run++) {
      expect(await get('/agents/shop/run', { input: {} })).toMatchObject({ status: 'suspended' })
    }
    const held = () => contexts.filter((one) => one.deref() !== undefined).length
    for (let round = 0; round < 20 && held() > 1; round++) {
      await new Promise((resolve) => setTimeout(resolve, 10))
      collect()
    }
    expect(contexts).toHaveLength(RUNS)
    // The newest one may still be on the stack of the test.
    expect(held()).toBeLessThanOrEqual(1)
  })
})

describe('a call that waits for its model', () => {
  it.each<[string, (signal: AbortSignal) => object]>([
    ['the signal of its caller', (abortSignal) => ({ abortSignal })],
    ['its time limit', () => ({ timeout: 1_000 })],
  ])('is still aborted by %s after a collection', async (_, options) => {
    const caller = new AbortController()
    const asked = Promise.withResolvers<WeakRef<AbortSignal>>()
    const hanging = Object.assign(scriptedModel([]), {
      doStream({ abortSignal }: { readonly abortSignal: AbortSignal }) {
        asked.resolve(new WeakRef(abortSignal))
        return new Promise((_, reject) => abortSignal.addEventListener('abort', () => reject(abortSignal.reason)))
      },
    }) as never
    const agent = defineAgent({
      id: 'shop',
      run: (_, ctx) => durable(ctx).streamText({ model: hanging, prompt: 'Hi', ...options(caller.signal) }),
    })
    const { get } = await serverWith([agent])
    const ended = get('/agents/shop/run', { input: {} })
    const signal = await asked.promise
    for (let round = 0; round < 5; round++) {
      await new Promise((resolve) => setTimeout(resolve, 1))
      collect()
    }
    caller.abort(new Error('the caller left'))

    expect(await ended).toMatchObject({ status: 'failed' })
    expect(signal.deref()?.aborted ?? true).toBe(true)
  })
})
