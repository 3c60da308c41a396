import OpenAI, { NotFoundError } from 'openai'
import { expect, it, onTestFinished } from 'vitest'
import { createInMemoryStorage } from '../../packages/in-memory/src/index.ts'
import { createServer } from '../../packages/server-app/src/index.ts'
import { createManualClock } from '../../packages/testkit/src/index.ts'
import { approvalsOf, ask, collect, decision } from './openai-client.ts'

const DAY_MS = 86_400_000

const ignore = () => undefined
const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

/** Longer delays end when the test moves the clock. */
const SHORT_MS = 1_000

/** A server inside the test, whose clock the test moves. */
async function serveWithClock() {
  const clock = createManualClock()
  const timers = {
    after(delayMs: number, fn: () => void) {
      if (delayMs > SHORT_MS) return clock.after(delayMs, fn)
      const handle = setTimeout(fn, delayMs)
      return () => clearTimeout(handle)
    },
  }
  const server = await createServer({
    config: {
      ...{ auth: { kind: 'none' }, server: { port: 1, rateLimit: { perIpRequests: 1_000 } } },
      retention: { eventsDays: 30, runsDays: 365 },
    },
    adapters: { storage: createInMemoryStorage(), logger, clock, timers },
    agents: [
      {
        ...{ id: 'clerk', description: 'Asks, and then says something.' },
        agent: {
          id: 'clerk',
          async run(_, ctx) {
            await ctx.text('I need a decision.')
            const { approved } = await ctx.approval('order', { title: 'Order?' })
            await ctx.tool({ name: 'mail', args: {}, toolCallId: 'call_1', execute: () => 'sent' })
            await ctx.text(approved ? 'Ordered.' : 'Not ordered.')
            return 'the result'
          },
        },
      },
    ],
  })
  await server.start({ listen: false })
  onTestFinished(() => server.stop({ force: true }))
  const fetch = (...request: ConstructorParameters<typeof Request>) => server.fetch(new Request(...request))
  const client = new OpenAI({
    baseURL: 'http://localhost/v1/openai',
    apiKey: 'none',
    fetch: fetch as never,
    maxRetries: 0,
  })
  const pass = async (days: number) => {
    for (let hours = 0; hours < days * 24; hours++) {
      clock.advance(DAY_MS / 24)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { client, pass }
}

it('shows a response a day later, and takes its decision', async () => {
  const { client, pass } = await serveWithClock()
  const asking = await client.responses.create(ask('clerk'))
  await pass(1)

  expect(await client.responses.retrieve(asking.id)).toEqual(asking)
  const input = approvalsOf(asking).map((id) => decision(id, true))
  const answered = await client.responses.create({ model: 'clerk', input, previous_response_id: asking.id })
  expect(answered.output_text).toBe('Ordered.')
  const events = await collect(await client.responses.retrieve(answered.id, { stream: true }))
  await pass(1)

  expect(await client.responses.retrieve(answered.id)).toEqual(answered)
  expect(await collect(await client.responses.retrieve(answered.id, { stream: true }))).toEqual(events)
})

it('shows the result of a response whose events have been deleted', async () => {
  const { client, pass } = await serveWithClock()
  const asking = await client.responses.create(ask('clerk'))
  const input = approvalsOf(asking).map((id) => decision(id, true))
  const answered = await client.responses.create({ model: 'clerk', input, previous_response_id: asking.id })
  await pass(32)

  for (const { id } of [asking, answered]) {
    const kept = await client.responses.retrieve(id)
    expect(kept).toMatchObject({ id, status: 'completed', output_text: 'the result' })
    const events = await collect(await client.responses.retrieve(id, { stream: true }))
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index))
    expect(events.map(({ type }) => type)).toEqual([
      ...['response.created', 'response.in_progress', 'response.output_item.added', 'response.content_part.added'],
      ...['response.output_text.delta', 'response.output_text.done', 'response.content_part.done'],
      ...['response.output_item.done', 'response.completed'],
    ])
    expect((await client.responses.stream({ response_id: id }).finalResponse()).output_text).toBe('the result')
  }
  await expect(client.responses.retrieve('resp_run_none')).rejects.toThrow(NotFoundError)
})
