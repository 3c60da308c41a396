import { join } from 'node:path'
import { Agent, OpenAIProvider, Runner } from '@openai/agents'
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
} from 'openai'
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openCuttingProxy } from '../cutting-proxy.ts'
import { type DurableServer, eventually, startDurableServer } from '../durable-server.ts'
import { createToken } from '../perdure-process.ts'

const CONFIG = join(import.meta.dirname, '../fixtures/interop.config.mjs')
const TALK = Array.from({ length: 40 }, (_, n) => `t${n + 1} `).join('')

let server: DurableServer
let kill = () => {}
beforeAll(async () => {
  server = await startDurableServer(CONFIG, {}, (end) => {
    kill = end
  })
})
afterAll(() => kill())

const clientOf = (on: Pick<DurableServer, 'url' | 'token'> = server, more: object = {}) =>
  new OpenAI({ baseURL: `${on.url()}/openai`, apiKey: on.token, ...more })

const ask = (model: string, more: object = {}) => ({ model, input: 't', ...more })

const chat = (model: string, more: object = {}) =>
  ({ model, messages: [{ role: 'user', content: 't' }], ...more }) as { model: string; messages: never[] }

const isApproval = (item: Response['output'][number]) => item.type === 'mcp_approval_request'

const approvalsOf = ({ output }: Response) => output.filter(isApproval).map(({ id }) => String(id))

const decision = (approval_request_id: string, approve: boolean, reason?: string) =>
  ({ type: 'mcp_approval_response', approval_request_id, approve, reason }) as const

async function numbersOf(stream: AsyncIterable<ResponseStreamEvent>): Promise<readonly number[]> {
  const numbers: number[] = []
  for await (const { sequence_number } of stream) numbers.push(sequence_number)
  return numbers
}

describe('the OpenAI client', () => {
  it('lists agents as models, as far as its token may start them', async () => {
    const token = await createToken(server.sandbox, 'agents:invoke:plain', 'somebody-else')
    const ids = async (client: OpenAI) => (await client.models.list()).data.map(({ id }) => id)

    expect(await ids(clientOf())).toContain('talker')
    expect(await ids(clientOf({ url: server.url, token }))).toEqual(['plain'])
    expect(await clientOf().models.retrieve('plain')).toMatchObject({ id: 'plain', owned_by: 'perdure' })
    await expect(clientOf().models.retrieve('none')).rejects.toThrow(NotFoundError)
  })

  it('gets a chat completion, whole and in chunks with their usage', async () => {
    const client = clientOf()
    const whole = await client.chat.completions.create(chat('talker'))
    expect(whole.choices[0]).toMatchObject({ finish_reason: 'stop', message: { role: 'assistant', content: TALK } })
    expect(whole.id).toMatch(/^chatcmpl-run_/)

    const stream = client.chat.completions.stream({ ...chat('returner'), stream_options: { include_usage: true } })
    const completion = await stream.finalChatCompletion()
    expect(completion.choices[0]?.message.content).toBe('Hello there')
    expect(completion.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 })
  })

  it('gets the result of a run that says nothing', async () => {
    const client = clientOf()

    expect((await client.chat.completions.create(chat('plain'))).choices[0]?.message.content).toBe('forty-two')
    expect((await client.responses.create(ask('plain'))).output_text).toBe('forty-two')
  })

  it('gets a response, whole and as a stream with the same output', async () => {
    const client = clientOf()
    const whole = await client.responses.create(ask('tooler'))
    const streamed = await client.responses.stream(ask('tooler')).finalResponse()

    expect(whole.output.map(({ type }) => type)).toEqual(['reasoning', 'mcp_call', 'mcp_call', 'message'])
    expect(whole.output[1]).toMatchObject({ name: 'mail', arguments: '{"to":"call_1"}', output: '{"sent":"call_1"}' })
    expect(whole.output[2]).toMatchObject({ status: 'failed', error: { content: 'the mailbox is full' } })
    expect(whole).toMatchObject({ status: 'completed', output_text: 'One of two mails was sent.' })
    const strip = ({ id }: Response, output: unknown) => JSON.stringify(output).replaceAll(id.slice(5), '<run>')
    expect(JSON.parse(strip(streamed, streamed.output))).toMatchObject(JSON.parse(strip(whole, whole.output)))
  })

  it('continues in the session of a response, and in a conversation', async () => {
    const client = clientOf()
    const first = await client.responses.create(ask('memo', { input: 'one' }))
    const second = await client.responses.create(ask('memo', { input: 'two', previous_response_id: first.id }))
    expect([first.output_text, second.output_text]).toEqual(['1: one', '3: two'])
    expect(second.previous_response_id).toBe(first.id)

    const conversation = await client.conversations.create({ metadata: { topic: 'numbers' } })
    for (const { id } of [conversation, { id: 'my own id' }]) {
      await client.responses.create(ask('memo', { input: 'one', conversation: id }))
      const again = await client.responses.create(ask('memo', { input: 'two', conversation: id }))
      expect(again).toMatchObject({ output_text: '3: two', conversation: { id } })
    }
    const items = await client.conversations.items.list(conversation.id, { order: 'asc' })
    expect(items.data.map((item) => ('role' in item ? item.role : item.type))).toEqual([
      ...['user', 'assistant', 'user', 'assistant'],
    ])
    const kept = await client.conversations.update(conversation.id, { metadata: { topic: 'letters' } })
    expect(kept.metadata).toEqual({ topic: 'letters' })
    expect(await client.conversations.delete(conversation.id)).toMatchObject({ deleted: true })
    await expect(client.conversations.retrieve(conversation.id)).rejects.toThrow(NotFoundError)
  })

  it('decides approvals by mcp_approval_response, and shows the tools that follow', async () => {
    const client = clientOf()
    const asking = await client.responses.create(ask('asker'))
    const [first = '', second = ''] = approvalsOf(asking)
    expect(asking).toMatchObject({ status: 'completed', output_text: 'I need your approval.' })
    expect(asking.output.find(isApproval)).toMatchObject({ name: 'mail', arguments: '{"to":"call_a"}' })

    const input = [decision(first, true), decision(second, false, 'not B')]
    const answered = await client.responses.create({ model: 'asker', input, previous_response_id: asking.id })
    expect(answered).toMatchObject({ id: `${asking.id}-2`, status: 'completed', output_text: 'Sent: 1.' })
    expect(answered.output).toMatchObject([
      { type: 'mcp_call', status: 'failed', approval_request_id: second },
      { type: 'mcp_call', status: 'completed', approval_request_id: first },
      { type: 'message' },
    ])
    const again = await client.responses.create({ model: 'asker', input, previous_response_id: asking.id })
    expect(again).toEqual(answered)
    expect(await client.responses.retrieve(asking.id)).toMatchObject({ output_text: 'I need your approval.' })
  })

  it('decides an approval of a child run as a stream', async () => {
    const client = clientOf()
    const asking = await client.responses.stream(ask('parent')).finalResponse()
    const input = [decision(approvalsOf(asking)[0] ?? '', true)]
    const stream = client.responses.stream({ model: 'parent', input, previous_response_id: asking.id })

    expect((await stream.finalResponse()).output_text).toBe('My colleague is done.')
  })

  it('decides approvals by a tool message of a chat', async () => {
    const client = clientOf()
    const asking = await client.chat.completions.create(chat('approver'))
    const call = asking.choices[0]?.message.tool_calls?.[0]
    expect(asking.choices[0]?.finish_reason).toBe('tool_calls')
    expect(call).toMatchObject({ id: expect.stringMatching(/^apr_/), function: { name: 'perdure_approval' } })
    const answer = (content: string) =>
      client.chat.completions.create({
        model: 'approver',
        messages: [
          { role: 'user', content: 't' },
          { role: 'assistant', tool_calls: asking.choices[0]?.message.tool_calls ?? [] },
          { role: 'tool', tool_call_id: call?.id ?? '', content },
        ],
      })

    await expect(answer('yes')).rejects.toThrow(BadRequestError)
    expect((await answer('{"granted":true}')).choices[0]?.message.content).toBe('Refunded by e2e.')
  })

  it('performs the tools that the agent asks its client for', async () => {
    const client = clientOf()
    const color = { name: 'pickColor', description: 'Picks a color.', parameters: { type: 'object' } }
    const asking = await client.responses.create(
      ask('painter', { tools: [{ type: 'function', strict: false, ...color }] }),
    )
    const call = asking.output.find(({ type }) => type === 'function_call')
    expect(call).toMatchObject({ name: 'pickColor', arguments: '{"of":["red","blue"]}', call_id: 'call_pick' })
    const input = [{ type: 'function_call_output', call_id: 'call_pick', output: '{"color":"red"}' } as const]
    const answer = () => client.responses.create({ model: 'painter', input, previous_response_id: asking.id })
    const answered = await answer()
    expect(answered).toMatchObject({ id: `${asking.id}-2`, status: 'completed', output_text: 'pickColor: red.' })
    expect(await answer()).toEqual(answered)

    const tools = [{ type: 'function', function: color } as const]
    const completion = await client.chat.completions.create(chat('painter', { tools }))
    const tool_calls = completion.choices[0]?.message.tool_calls ?? []
    expect(completion.choices[0]?.finish_reason).toBe('tool_calls')
    const messages = [
      { role: 'user', content: 't' } as const,
      { role: 'assistant', tool_calls } as const,
      { role: 'tool', tool_call_id: tool_calls[0]?.id ?? '', content: '{"color":"blue"}' } as const,
    ]
    const told = await client.chat.completions.create({ model: 'painter', messages, tools })
    expect(told.choices[0]?.message.content).toBe('pickColor: blue.')
  })

  it('passes the next message to a run that asked for input', async () => {
    const client = clientOf()
    const asking = await client.responses.create(ask('suspender'))
    const answer = () => client.responses.create({ model: 'suspender', input: 'Bern', previous_response_id: asking.id })
    const answered = await answer()

    expect([asking.output_text, answered.output_text]).toEqual(['Which city?', 'You said Bern.'])
    expect(await answer()).toEqual(answered)
  })

  it('refuses decisions of other callers and malformed decisions', async () => {
    const client = clientOf()
    const asking = await client.responses.create(ask('approver'))
    const token = await createToken(server.sandbox, 'agents:invoke,approvals:resolve', 'somebody-else')
    const other = clientOf({ url: server.url, token })
    const [id = ''] = approvalsOf(asking)
    const input = [decision(id, true)]

    await expect(other.responses.create({ model: 'approver', input })).rejects.toThrow(NotFoundError)
    await expect(other.responses.create(ask('approver', { previous_response_id: asking.id }))).rejects.toThrow(
      NotFoundError,
    )
    await expect(other.responses.retrieve(asking.id)).rejects.toThrow(NotFoundError)
    await expect(other.responses.cancel(asking.id)).rejects.toThrow(NotFoundError)
    const malformed = [{ ...decision(id, true), approve: 'yes' as unknown as boolean }]
    await expect(client.responses.create({ model: 'approver', input: malformed })).rejects.toThrow(BadRequestError)
    const [, runId = ''] = asking.id.split(/_(.*)/)
    expect((await server.approvals(runId)).length).toBe(1)
  })

  it('follows a response in the background after any event', async () => {
    const client = clientOf()
    const { id } = await client.responses.create(ask('tooler', { background: true }))
    const whole = await numbersOf(await client.responses.retrieve(id, { stream: true }))
    expect(whole).toEqual(whole.map((_, index) => index))
    for (let k = 0; k < whole.length; k += 3) {
      const rest = await client.responses.retrieve(id, { stream: true, starting_after: k })
      expect(await numbersOf(rest)).toEqual(whole.slice(k + 1))
    }
    const helper = client.responses.stream({ response_id: id, starting_after: 4 })
    expect((await helper.finalResponse()).output_text).toBe('One of two mails was sent.')
  })

  it('cancels a response, twice', async () => {
    const client = clientOf()
    const { id, status } = await client.responses.create(ask('gated', { background: true }))
    expect(['queued', 'in_progress']).toContain(status)

    expect(await client.responses.cancel(id)).toMatchObject({ id, status: 'cancelled' })
    expect(await client.responses.cancel(id)).toMatchObject({ id, status: 'cancelled' })
    const stream = client.responses.stream({ response_id: id })
    expect((await stream.finalResponse()).status).toBe('cancelled')
  })

  it('gets failures as its own classes, and does not start a failed run again', async () => {
    const client = clientOf()
    const requests: string[] = []
    const counting = clientOf(server, {
      fetch: (...request: Parameters<typeof fetch>) => {
        requests.push(String(request[0]))
        return fetch(...request)
      },
    })
    await expect(counting.chat.completions.create(chat('failer'))).rejects.toThrow(InternalServerError)
    expect(requests).toHaveLength(1)
    await expect(client.chat.completions.stream(chat('failer')).finalContent()).rejects.toThrow(APIError)
    expect(await client.responses.create(ask('failer'))).toMatchObject({
      ...{ status: 'failed', output_text: 'So far so good.' },
      error: { code: 'server_error', message: 'the model is gone' },
    })
    expect((await client.responses.stream(ask('failer')).finalResponse()).status).toBe('failed')
  })

  it.each([
    ['an unknown token', AuthenticationError, 'auth-invalid', ask('plain'), { apiKey: 'perdure_none' }],
    ['an agent that the token may not start', PermissionDeniedError, 'scope-denied', ask('plain'), undefined],
    ['an unknown agent', NotFoundError, 'agent-not-found', ask('none'), {}],
    ['a hosted tool', BadRequestError, 'unsupported-parameter', ask('plain', { tools: [{ type: 'web_search' }] }), {}],
    ['an empty input', BadRequestError, 'validation-failed', ask('plain', { input: [] }), {}],
    [
      'background without storage',
      BadRequestError,
      'unsupported-parameter',
      ask('plain', { store: false, background: true }),
      {},
    ],
    ['an unknown response', NotFoundError, 'run-not-found', ask('plain', { previous_response_id: 'resp_none' }), {}],
  ])('gets the refusal of %s as its own class', async (_, ErrorClass, code, body, more) => {
    const token =
      more === undefined ? await createToken(server.sandbox, 'agents:invoke:talker', 'narrow') : server.token
    const client = clientOf({ url: server.url, token }, more ?? {})
    const error = await client.responses.create(body as ReturnType<typeof ask>).catch((thrown: unknown) => thrown)

    expect(error).toBeInstanceOf(ErrorClass)
    expect(error).toMatchObject({ code, requestID: expect.any(String) })
  })

  it('is not told to repeat a request that a busy agent refuses', async () => {
    const requests: string[] = []
    const client = clientOf(server, {
      fetch: (...request: Parameters<typeof fetch>) => {
        requests.push(String(request[0]))
        return fetch(...request)
      },
    })
    const { id } = await client.responses.create(ask('single', { background: true }))
    requests.length = 0
    await expect(client.responses.create(ask('single'))).rejects.toThrow(ConflictError)
    expect(requests).toHaveLength(1)
    await client.responses.cancel(id)
  })

  it.each([true, false])('is the client of an Agents SDK, with Responses: %s', async (useResponses) => {
    const modelProvider = new OpenAIProvider({ openAIClient: clientOf() as never, useResponses })
    const runner = new Runner({ modelProvider, tracingDisabled: true })
    const agent = new Agent({ name: 'caller', instructions: 'Pass it on.', model: 'talker' })

    expect((await runner.run(agent, 't')).finalOutput).toBe(TALK)
    const streamed = await runner.run(agent, 't', { stream: true })
    await streamed.completed
    expect(streamed.finalOutput).toBe(TALK)
  })

  it('gets the stream of the same run for the same Idempotency-Key', async () => {
    const client = clientOf()
    const headers = { 'Idempotency-Key': 'openai-1' }
    const once = async () => {
      const stream = await client.chat.completions.create({ ...chat('plain'), stream: true }, { headers })
      const chunks: unknown[] = []
      for await (const chunk of stream) chunks.push(chunk)
      return chunks
    }
    const first = await once()

    expect(await once()).toEqual(first)
    expect(first.length).toBeGreaterThan(2)
  })
})

describe('the OpenAI client resumes, and', () => {
  it('gets every event over a network that cuts its connections', async () => {
    let pause = 150
    const proxy = await openCuttingProxy(() => (pause += 25))
    proxy.target = Number(new URL(server.url()).port)
    onTestFinished(() => proxy.close())
    const client = clientOf({ url: () => `http://127.0.0.1:${proxy.port}/v1`, token: server.token })
    const { id } = await clientOf().responses.create(ask('talker', { background: true }))
    const { numbers, text } = await followed(client, id)

    expect(numbers).toEqual(numbers.map((_, index) => index))
    expect(text).toBe(TALK)
    expect(proxy.cuts()).toBeGreaterThan(0)
  })

  it('gets every event across a crash of the server, no text twice, and decides what was asked before', async () => {
    const killed = await startDurableServer(CONFIG)
    const asking = await clientOf(killed).responses.create(ask('approver'))
    const { id } = await clientOf(killed).responses.create(ask('crasher', { background: true }))
    const following = followed(() => clientOf(killed), id)
    await eventually(() => killed.ledger()).toEqual(['crashed'])
    await killed.restart()
    const { numbers, response } = await following

    const words = Array.from({ length: 10 }, (_, n) => `c${n + 1} `).join('')
    expect(numbers).toEqual(numbers.map((_, index) => index))
    expect(response?.output_text).toBe(`First. ${words}Last.`)
    expect(await clientOf(killed).responses.retrieve(id)).toMatchObject({ output_text: `First. ${words}Last.` })
    const stream = clientOf(killed).responses.stream({ response_id: id })
    expect((await stream.finalResponse()).output_text).toBe(`First. ${words}Last.`)
    const input = [decision(approvalsOf(asking)[0] ?? '', true)]
    const answered = clientOf(killed).responses.create({ model: 'approver', input, previous_response_id: asking.id })
    expect((await answered).output_text).toBe('Refunded by e2e.')
  })
})

/** Follows a response as its users do: after each break, from the number of the last event. */
async function followed(client: OpenAI | (() => OpenAI), id: string) {
  const numbers: number[] = []
  let text = ''
  let response: Response | undefined
  while (response === undefined) {
    try {
      const current = typeof client === 'function' ? client() : client
      const starting_after = numbers.at(-1)
      const more = starting_after === undefined ? {} : { starting_after }
      const stream = await current.responses.retrieve(id, { stream: true, ...more }, { maxRetries: 0 })
      for await (const event of stream) {
        numbers.push(event.sequence_number)
        if (event.type === 'response.output_text.delta') text += event.delta
        if (event.type === 'response.completed') response = event.response
      }
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  return { numbers, text, response: withText(response) }
}

const withText = (response: Response) => ({
  ...response,
  output_text: response.output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => (part.type === 'output_text' ? part.text : ''))
    .join(''),
})
