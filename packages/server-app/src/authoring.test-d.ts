import * as v from 'valibot'
import { expectTypeOf } from 'vitest'
import {
  type AgentRegistration,
  createServer,
  defineAgent,
  defineConfig,
  defineTrigger,
  defineWorkflow,
} from './index.ts'
import { runAgent, runWorkflow } from './testing.ts'

const Mail = v.object({ to: v.string(), copies: v.optional(v.number(), 1) })

/** A schema determines the input type wherever code is registered. */
const mail = defineAgent({
  id: 'mail',
  description: 'Sends a mail.',
  input: Mail,
  run: async ({ to, copies }) => ({ to: to.trim(), copies: copies.toFixed() }),
})
const nightly = defineWorkflow({
  id: 'nightly',
  description: 'Runs at night.',
  input: v.string(),
  run: async (topic, { signal }) => topic.trim() + String(signal.aborted),
})
export const config = defineConfig({
  auth: { pepperRef: 'env:PERDURE_PEPPER' },
  agents: [
    mail,
    { id: 'in-place', description: 'A', input: Mail, agent: { id: 'in-place', run: async ({ to }) => to.trim() } },
    {
      id: 'generator',
      description: 'B',
      onCrash: 'retry',
      input: v.object({ upTo: v.number() }),
      agent: {
        id: 'generator',
        async *run({ upTo }, { runId }) {
          yield { type: 'count.step', payload: { upTo: upTo.toFixed(), runId } }
          return upTo
        },
      },
    },
  ],
  workflows: [
    nightly,
    {
      id: 'w',
      description: 'C',
      input: Mail,
      workflow: { id: 'w', execute: async ({ copies }, ctx) => ctx.step('more', () => copies + 1) },
    },
  ],
})
export const server = createServer({
  agents: [mail, { id: 'a', description: 'A', input: Mail, agent: { id: 'a', run: async ({ to }) => to.trim() } }],
})
export const several: readonly AgentRegistration[] = [mail]
export const ofSeveral = [defineConfig({ agents: several }), createServer({ agents: several }), createServer()]

export async function registerLater(): Promise<void> {
  const { agents, workflows } = await server
  agents.register({ id: 'l', description: 'L', input: Mail, agent: { id: 'l', run: async ({ to }) => to.trim() } })
  workflows.register({ ...nightly, id: 'later' })
}

/** The key functions of flow control get the input that the schema returns. */
export const limited = [
  defineAgent({
    ...{ id: 'a', description: 'A' },
    input: Mail,
    concurrency: { limit: 3, key: ({ to, copies }, { owner }) => `${owner}/${to.trim()}/${copies.toFixed()}` },
    rateLimit: { limit: 10, period: 1_000, key: ({ to }) => (to === '' ? undefined : to) },
    debounce: { period: 500, key: ({ to }, { sessionId }) => sessionId ?? to.trim() },
    run: async ({ to }) => to.trim(),
  }),
  defineAgent({
    ...{ id: 'a', description: 'A', input: Mail },
    // @ts-expect-error the schema has no such member
    concurrency: { limit: 3, key: ({ customer }) => customer },
    run: async ({ to }) => to.trim(),
  }),
  defineAgent({
    ...{ id: 'a', description: 'A' },
    concurrency: { limit: 3, key: (_: { readonly to: string }) => 'a' },
    // @ts-expect-error without a schema the input is unknown, whatever the key function takes
    run: async (input) => input.to,
  }),
  // @ts-expect-error a debounce needs a key
  defineAgent({ id: 'a', description: 'A', debounce: { period: 5 }, run: async () => 1 }),
  defineWorkflow({
    ...{ id: 'w', description: 'W', concurrency: { limit: 1, key: 'user' } },
    input: Mail,
    rateLimit: { limit: 1, period: 5, key: ({ to }) => to.trim() },
    run: async ({ to }) => to.trim(),
  }),
  defineConfig({
    agents: [
      {
        ...{ id: 'a', description: 'A', input: Mail },
        concurrency: { limit: 3, key: ({ to }) => to.trim() },
        agent: { run: async ({ to }) => to.trim() },
      },
    ],
  }),
]

/** Code may show parts, and return or yield streams. */
declare const streamText: () => {
  readonly textStream: AsyncIterable<string>
  readonly fullStream: ReadableStream<object>
}

export const shows = [
  defineAgent({ id: 'a', description: 'A', input: Mail, run: () => streamText() }),
  defineAgent({
    id: 'a',
    description: 'A',
    input: Mail,
    run: async ({ to }) => (to === '' ? 1 : streamText()),
  }),
  defineAgent({
    ...{ id: 'a', description: 'A' },
    async *run(_, { text }) {
      yield 'text'
      yield streamText()
      yield { type: 'weather.seen' }
      await text('more', { phase: 'commentary' })
      return { done: true }
    },
  }),
  defineWorkflow({
    ...{ id: 'w', description: 'W' },
    async run(_, { text, state, data, file, stream }) {
      state({ city: 'Bern' })
      state.patch([{ op: 'replace', path: '/city', value: 'Basel' }])
      data('weather', { celsius: 3 }, { id: 'w1' })
      // @ts-expect-error a file has a media type
      file({ url: 'https://example.com' })
      // @ts-expect-error text is a string
      text(1)
      const { text: answer, usage } = await stream('answer', ({ signal }) =>
        signal.aborted ? streamText() : streamText(),
      )
      // @ts-expect-error a stream is not a text
      await stream('answer', () => 'text')
      return answer.length + (usage?.inputTokens ?? 0)
    },
  }),
]

/** Without a schema the input is unknown; code that contradicts the schema does not compile. */
export const refused = [
  // @ts-expect-error without a schema the input is unknown
  defineAgent({ id: 'a', description: 'A', run: async (input) => input.to }),
  // @ts-expect-error the schema has no such member
  defineAgent({ id: 'a', description: 'A', input: Mail, run: async ({ too }) => too }),
  // @ts-expect-error the code needs a member that the schema does not have
  defineAgent({ id: 'a', description: 'A', input: Mail, run: async (_: { n: number }) => 1 }),
  // @ts-expect-error in a list, too, the input is unknown without a schema
  defineConfig({ agents: [{ id: 'a', description: 'A', agent: { id: 'a', run: async (input) => input.to } }] }),
  // @ts-expect-error a registration has no such member
  defineConfig({ agents: [{ id: 'a', description: 'A', retires: 3, agent: { id: 'a', run: async () => 1 } }] }),
  // @ts-expect-error the configuration has no such section
  defineConfig({ sever: { port: 1 } }),
]

/**
 * Steps and tools accept any `PromiseLike`, because libraries return such values. A tool's `args` determine the
 * parameter type of its `execute`.
 */
interface Generated extends PromiseLike<{ readonly text: string }> {}
declare const doGenerate: () => Generated

export const calls = defineAgent({
  id: 'calls',
  description: 'Calls.',
  async run(_, ctx) {
    const { text } = await ctx.step('generate', () => doGenerate())
    const now: number = await ctx.step('now', () => 1)
    const sent = await ctx.tool({
      name: 'send',
      args: { to: 'team@example.com', text },
      execute: async ({ to }, { idempotencyKey, signal }) => ({
        to: to.trim(),
        idempotencyKey,
        aborted: signal.aborted,
      }),
    })
    const generated = await ctx.tool({ name: 'generate', execute: () => doGenerate() })
    const summary = await ctx.invoke('summarize', { text })
    const go = await ctx.waitForEvent<{ readonly by: string }>('go')
    // @ts-expect-error the wait may time out
    go.by.trim()
    // @ts-expect-error the result type of this child run is unknown
    ;(await ctx.invoke('summarize')).text
    // @ts-expect-error there is no such argument
    await ctx.tool({ name: 'send', args: { to: 'a' }, execute: ({ too }) => too })
    return [
      now,
      sent.ok ? sent.value.idempotencyKey.trim() : sent.error.kind,
      generated.ok && generated.value.text.trim(),
      summary,
      go?.by.trim(),
    ]
  },
})

/** A definition types its callers: a parent run, a test and the trigger that starts it. */
const summarize = defineAgent({
  id: 'summarize',
  input: v.object({ text: v.string() }),
  output: v.object({ mood: v.picklist(['good', 'bad']), at: v.date() }),
  run: async ({ text }) => ({ mood: text === '' ? ('bad' as const) : ('good' as const), at: new Date() }),
})
const count = defineAgent({ id: 'count', run: () => ({ total: 1, at: new Date() }) })
const counting = defineWorkflow({
  id: 'counting',
  input: Mail,
  async *run({ to }) {
    yield 'counting'
    return { letters: to.length }
  },
})
const answer = defineAgent({ id: 'answer', input: Mail, run: () => streamText() })

export const parent = defineWorkflow({
  id: 'parent',
  async run(_, ctx) {
    const { mood, at } = await ctx.invoke(summarize, { text: 'a' })
    expectTypeOf(mood).toEqualTypeOf<'good' | 'bad'>()
    expectTypeOf(at).toEqualTypeOf<string>()
    expectTypeOf(await ctx.invoke(count)).toEqualTypeOf<{ total: number; at: string }>()
    expectTypeOf(await ctx.invoke(counting, { to: 'a' })).toEqualTypeOf<{ letters: number }>()
    expectTypeOf(await ctx.invoke(answer, { to: 'a' })).toEqualTypeOf<{ readonly text: string }>()
    expectTypeOf(await ctx.invoke('summarize', 1)).toBeUnknown()
    expectTypeOf(await ctx.step('now', () => ({ at: new Date(), log: () => 1 }))).toEqualTypeOf<{ at: string }>()
    await ctx.sleep('a while', '1d')
    await ctx.step('often', () => 1, { retries: { max: 3, delay: '1s' }, timeout: '30s' })
    // @ts-expect-error the member `text` is missing
    await ctx.invoke(summarize, {})
    // @ts-expect-error the input is missing
    await ctx.invoke(summarize)
    // @ts-expect-error a duration has a unit
    await ctx.sleep('a while', '1 day')
  },
})

export async function tests() {
  const run = await runAgent(summarize, { text: 'a' })
  expectTypeOf(run.result?.mood).toEqualTypeOf<'good' | 'bad' | undefined>()
  const later = await (await runWorkflow(counting, { to: 'a' })).advance('1d')
  expectTypeOf(later.result).toEqualTypeOf<{ letters: number } | undefined>()
  // @ts-expect-error `text` is a string
  await runAgent(summarize, { text: 1 })
}

export const triggers = [
  defineTrigger({ id: 't', kind: 'interval', interval: '15m', start: summarize, input: { text: 'a' } }),
  defineTrigger({ id: 't', kind: 'event', event: 'mail', start: summarize }),
  defineTrigger({ id: 't', kind: 'cron', cron: '0 3 * * *', start: count }),
  // @ts-expect-error `text` is a string
  defineTrigger({ id: 't', kind: 'idle', idle: '5m', start: summarize, input: { text: 1 } }),
  // @ts-expect-error the input is missing
  defineTrigger({ id: 't', kind: 'interval', interval: '15m', start: summarize }),
]

/** A wrong definition gets an error at the member that is wrong. */
export const wrong = [
  // @ts-expect-error the code is missing
  defineAgent({ id: 'a' }),
  // @ts-expect-error the shape of the interface document is for plain objects
  defineAgent({ id: 'a', agent: { id: 'a', run: async () => 1 } }),
  // @ts-expect-error without a schema, a member of the input is unknown
  defineAgent({ id: 'a', run: ({ messages }) => messages }),
  // @ts-expect-error there is no such option
  defineAgent({ id: 'a', retires: 3, run: () => 1 }),
  // @ts-expect-error the output schema accepts numbers
  defineAgent({ id: 'a', output: v.number(), run: async () => 'one' }),
]
