import { Agent, extractAllTextOutput, OpenAIProvider, Runner } from '@openai/agents'
import OpenAI from 'openai'
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openCuttingProxy } from '../cutting-proxy.ts'
import { type DurableServer, eventually, startDurableServer } from '../durable-server.ts'
import { unusedPort } from '../unused-port.ts'
import {
  approvalsOf,
  ask,
  chat,
  chatAnswer,
  collect,
  decision,
  openaiOf,
  PROTOCOLS_CONFIG,
  TALK,
} from './openai-client.ts'

type Stream = AsyncIterable<ResponseStreamEvent>

const ENDS: readonly string[] = ['response.completed', 'response.failed', 'response.incomplete']

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const PATIENCE_MS = 15_000

/** Repeats a request until its answer arrives as a whole. */
async function untilWhole<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  let cause: unknown
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await pause(20)) {
    const whole = await attempt().catch((error: unknown) => {
      cause = error
    })
    if (whole !== undefined) return whole
  }
  throw new Error('the answer never arrived as a whole', { cause })
}

/**
 * Reads a response to its end as its users do: after each break, from the number of the last event.
 *
 * @param create starts the response; repeated as long as no event has arrived
 */
async function follow(client: () => OpenAI, create: (one: OpenAI) => Promise<Stream>) {
  const events: ResponseStreamEvent[] = []
  let id: string | undefined
  const response = await untilWhole(async () => {
    const starting_after = events.at(-1)?.sequence_number
    const stream =
      id === undefined || starting_after === undefined
        ? await create(client())
        : await client().responses.retrieve(id, { stream: true, starting_after })
    for await (const event of stream) {
      events.push(event)
      if (event.type === 'response.created') id = event.response.id
      if (ENDS.includes(event.type)) return (event as { response: Response }).response
    }
    return undefined
  })
  const text = events.flatMap((event) => (event.type === 'response.output_text.delta' ? event.delta : [])).join('')
  return { events, response, text, numbers: events.map(({ sequence_number }) => sequence_number) }
}

const textOf = ({ output }: Response): string =>
  output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => (part.type === 'output_text' ? part.text : ''))
    .join('')

const STORY = 'part 1. part 2. part 3. part 4. part 5. part 6. End.'

let server: DurableServer
let kill = () => {}
beforeAll(async () => {
  server = await startDurableServer(PROTOCOLS_CONFIG, { E2E_PORT: String(await unusedPort()) }, (end) => {
    kill = end
  })
})
afterAll(() => kill())

const DISTURBANCES = ['a network that cuts its connections', 'crashes of the server'] as const

/** Disturbs the server, or the connections to it, until the test ends. */
async function disturb(how: (typeof DISTURBANCES)[number]) {
  if (how === DISTURBANCES[0]) {
    let connectionMs = 60
    const proxy = await openCuttingProxy(() => (connectionMs += 15))
    proxy.target = Number(new URL(server.url()).port)
    onTestFinished(() => proxy.close())
    const url = () => `http://127.0.0.1:${proxy.port}/v1`
    return { client: () => openaiOf({ url, token: server.token }, { maxRetries: 0 }), breaks: proxy.cuts }
  }
  let crashes = 0
  const crash = async () => {
    for (; crashes < 2; crashes++) {
      await pause(150)
      await server.restart('SIGKILL')
    }
  }
  const crashing = crash()
  onTestFinished(() => crashing)
  return { client: () => openaiOf(server, { maxRetries: 0 }), breaks: () => crashes + 1 }
}

describe.each(DISTURBANCES)('over %s, the OpenAI client', (how) => {
  const keyed = (name: string) => ({ headers: { 'Idempotency-Key': `${how}-${name}`.replaceAll(' ', '-') } })

  it('gets every event of a response once, and the decisions that it takes', async () => {
    const { client, breaks } = await disturb(how)
    const first = await follow(client, (one) =>
      one.responses.create({ ...ask('teller-completed'), stream: true }, keyed('response')),
    )
    const segments = [first]
    for (let last = first.response; approvalsOf(last).length > 0; last = segments.at(-1)?.response as Response) {
      const input = approvalsOf(last).map((id) => decision(id, true))
      const body = { model: 'teller-completed', input, previous_response_id: last.id, stream: true } as const
      segments.push(await follow(client, (one) => one.responses.create(body)))
    }

    expect(segments).toHaveLength(3)
    expect(segments.map(({ response }) => textOf(response)).join('')).toBe(STORY)
    for (const { numbers } of segments) expect(numbers).toEqual(numbers.map((_, index) => index))
    for (const { response, events } of segments) {
      const whole = await openaiOf(server).responses.retrieve(response.id, { stream: true })
      expect(await collect(whole)).toEqual(events)
    }
    expect(breaks()).toBeGreaterThan(0)
  })

  it('gets a whole Chat Completion with its usage for the key of its request', async () => {
    const { client, breaks } = await disturb(how)
    const body = { ...chat('narrator'), stream_options: { include_usage: true } }
    const completion = await untilWhole(() =>
      client().chat.completions.stream(body, keyed('chat')).finalChatCompletion(),
    )

    expect(completion.choices[0]?.message.content?.replaceAll('\n\n', '')).toBe(STORY)
    expect(completion.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 4 })
    expect(breaks()).toBeGreaterThan(0)
  })

  it('gets a whole Chat Completion for the answer to an approval', async () => {
    const asking = await openaiOf(server).chat.completions.create(chat('teller-completed'))
    const calls = asking.choices[0]?.message.tool_calls ?? []
    const messages = chatAnswer(calls, ['{"approved":true}'])
    const { client } = await disturb(how)
    const answered = await untilWhole(() =>
      client().chat.completions.stream({ model: 'teller-completed', messages }).finalChatCompletion(),
    )

    expect(answered.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: 'part 3. \n\npart 4. ' },
    })
    expect(answered.id).toBe(`${asking.id}-2`)
  })

  it('gets one turn of an Agents SDK for the key of its request', async () => {
    const { client } = await disturb(how)
    const agent = new Agent({ name: 'caller', instructions: 'Pass it on.', model: 'narrator' })
    const output = await untilWhole(async () => {
      const { baseURL, apiKey } = client()
      const keyedClient = new OpenAI({ baseURL, apiKey, maxRetries: 0, defaultHeaders: keyed('turn').headers })
      const modelProvider = new OpenAIProvider({ openAIClient: keyedClient as never, useResponses: true })
      const streamed = await new Runner({ modelProvider, tracingDisabled: true }).run(agent, 't', { stream: true })
      await streamed.completed
      return extractAllTextOutput(streamed.newItems)
    })

    expect(output).toBe(STORY)
  })
})

describe('the OpenAI client', () => {
  it('gets an item that a crash withdraws as incomplete, and the text once in the final output', async () => {
    const killed = await startDurableServer(PROTOCOLS_CONFIG)
    const { id } = await openaiOf(killed).responses.create(ask('crasher', { background: true }))
    const following = follow(
      () => openaiOf(killed, { maxRetries: 0 }),
      (one) => one.responses.retrieve(id, { stream: true }),
    )
    await eventually(() => killed.ledger()).toEqual(['crashed'])
    await killed.restart()
    const { numbers, events, response } = await following

    const words = Array.from({ length: 10 }, (_, n) => `c${n + 1} `).join('')
    expect(numbers).toEqual(numbers.map((_, index) => index))
    const done = events.flatMap((event) => (event.type === 'response.output_item.done' ? [event.item] : []))
    expect(done.map((item) => ('status' in item ? item.status : ''))).toContain('incomplete')
    expect(textOf(response)).toBe(`First. ${words}Last.`)
    expect((await openaiOf(killed).responses.retrieve(id)).output_text).toBe(`First. ${words}Last.`)
    const stream = openaiOf(killed).responses.stream({ response_id: id })
    expect((await stream.finalResponse()).output_text).toBe(`First. ${words}Last.`)
  })

  it('gets the end of a stream of text that a crash withdraws as an error, and the whole text for the same key', async () => {
    const killed = await startDurableServer(PROTOCOLS_CONFIG)
    const headers = { 'Idempotency-Key': 'crash' }
    const stream = () => openaiOf(killed, { maxRetries: 0 }).chat.completions.stream(chat('crasher'), { headers })
    const cut = expect(stream().finalContent()).rejects.toThrow()
    await eventually(() => killed.ledger()).toEqual(['crashed'])
    await killed.restart()
    await cut

    const words = Array.from({ length: 10 }, (_, n) => `c${n + 1} `).join('')
    const content = await untilWhole(() => stream().finalContent())
    expect(content?.replaceAll('\n\n', '')).toBe(`First. ${words}Last.`)
  })

  it('decides after a restart what was asked before it', async () => {
    const asking = await openaiOf(server).responses.create(ask('approver'))
    await server.restart()
    const input = [decision(approvalsOf(asking)[0] ?? '', true)]
    const { responses } = openaiOf(server)

    expect((await responses.create({ model: 'approver', input, previous_response_id: asking.id })).output_text).toBe(
      'Refunded by e2e.',
    )
  })

  it.each([true, false])('is the client of an Agents SDK, with Responses: %s', async (useResponses) => {
    const modelProvider = new OpenAIProvider({ openAIClient: openaiOf(server) as never, useResponses })
    const runner = new Runner({ modelProvider, tracingDisabled: true })
    const agent = new Agent({ name: 'caller', instructions: 'Pass it on.', model: 'talker' })

    expect((await runner.run(agent, 't')).finalOutput).toBe(TALK)
    const streamed = await runner.run(agent, 't', { stream: true })
    await streamed.completed
    expect(streamed.finalOutput).toBe(TALK)
  })
})
