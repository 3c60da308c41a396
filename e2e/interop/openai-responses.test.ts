import { APIError, BadRequestError, NotFoundError, PermissionDeniedError } from 'openai'
import type { Response } from 'openai/resources/responses/responses'
import { describe, expect, it } from 'vitest'
import { createToken } from '../perdure-process.ts'
import {
  approvalsOf,
  ask,
  collect,
  decision,
  isApproval,
  numbersOf,
  openaiOf,
  serveForFile,
  withoutRunId,
} from './openai-client.ts'

const server = serveForFile()
const client = () => openaiOf(server())
const runOf = ({ id }: Pick<Response, 'id'>) => id.slice('resp_'.length)

describe('a Response', () => {
  it('has the same output as a whole and as a stream', async () => {
    const whole = await client().responses.create(ask('tooler'))
    const streamed = await client().responses.stream(ask('tooler')).finalResponse()

    expect(whole.output.map(({ type }) => type)).toEqual(['reasoning', 'mcp_call', 'mcp_call', 'message'])
    expect(whole.output[1]).toMatchObject({ name: 'mail', arguments: '{"to":"call_1"}', output: '{"sent":"call_1"}' })
    expect(whole.output[2]).toMatchObject({
      status: 'failed',
      error: { content: expect.stringMatching(/^An error occurred \(run run_\w+\)$/) },
    })
    expect(whole).toMatchObject({ status: 'completed', output_text: 'One of two mails was sent.' })
    expect(withoutRunId(streamed.output, runOf(streamed))).toMatchObject(withoutRunId(whole.output, runOf(whole)))
  })

  it('is the result of a run that says nothing', async () => {
    expect((await client().responses.create(ask('plain'))).output_text).toBe('forty-two')
  })

  it('passes instructions, settings and metadata to the run, and shows what started it', async () => {
    const image = 'data:image/png;base64,AA=='
    const content = [
      { type: 'input_text', text: 'Look.' } as const,
      { type: 'input_image', image_url: image, detail: 'auto' } as const,
    ]
    const response = await client().responses.create({
      ...{ model: 'mirror', instructions: 'Be brief.', temperature: 0.3, metadata: { project: 'p1' }, store: false },
      ...{ include: ['message.output_text.logprobs'], truncation: 'auto', service_tier: 'auto' },
      input: [{ role: 'user', content }],
    })
    const { text, context, settings } = JSON.parse(response.output_text)

    expect({ text, settings }).toEqual({ text: 'Look.', settings: { temperature: 0.3 } })
    expect(context).toEqual([{ description: 'instructions', value: 'Be brief.' }])
    expect(response).toMatchObject({ metadata: { project: 'p1' }, store: true })
    const input = await collect(client().responses.inputItems.list(response.id))
    expect(input).toMatchObject([{ type: 'message', role: 'user', content }])
  })

  it('continues the session of an earlier one', async () => {
    const first = await client().responses.create(ask('memo', { input: 'one' }))
    const second = await client().responses.create(ask('memo', { input: 'two', previous_response_id: first.id }))

    expect([first.output_text, second.output_text]).toEqual(['1: one', '3: two'])
    expect(second.previous_response_id).toBe(first.id)
  })

  it('is removed with its session only', async () => {
    const { id } = await client().responses.create(ask('plain'))
    const error = await client()
      .responses.delete(id)
      .catch((thrown: unknown) => thrown)

    expect(error).toBeInstanceOf(APIError)
    expect(error).toMatchObject({ status: 405, code: 'method-not-allowed' })
    expect((await client().responses.retrieve(id)).output_text).toBe('forty-two')
  })

  it('in the background is followed after any event, and shows how it ended', async () => {
    const { id } = await client().responses.create(ask('tooler', { background: true }))
    const whole = await numbersOf(await client().responses.retrieve(id, { stream: true }))
    expect(whole).toEqual(whole.map((_, index) => index))
    for (let starting_after = 0; starting_after < whole.length; starting_after++) {
      const rest = await client().responses.retrieve(id, { stream: true, starting_after })
      expect(await numbersOf(rest)).toEqual(whole.slice(starting_after + 1))
    }
    expect(await numbersOf(await client().responses.retrieve(id, { stream: true, starting_after: 9_999 }))).toEqual([])
    const helper = client().responses.stream({ response_id: id, starting_after: 4 })
    expect((await helper.finalResponse()).output_text).toBe('One of two mails was sent.')
  })

  it('that nobody waits for any more is found later', async () => {
    const conversation = 'left alone'
    const leaving = new AbortController()
    const left = client().responses.create(ask('gated', { conversation }), { signal: leaving.signal })
    const gone = expect(left).rejects.toThrow()
    await expect
      .poll(() => server().itemsOf('/runs?agentId=gated&status=running'), { interval: 20 })
      .toMatchObject([{ agentId: 'gated' }])
    leaving.abort()
    await gone
    const [run] = await server().itemsOf<{ readonly id: string }>('/runs?agentId=gated&status=running')

    expect(await client().responses.retrieve(`resp_${run?.id}`)).toMatchObject({ status: 'in_progress' })
    expect(await client().responses.cancel(`resp_${run?.id}`)).toMatchObject({ status: 'cancelled' })
  })

  it('is cancelled, twice', async () => {
    const { id, status } = await client().responses.create(ask('gated', { background: true }))
    expect(['queued', 'in_progress']).toContain(status)

    expect(await client().responses.cancel(id)).toMatchObject({ id, status: 'cancelled' })
    expect(await client().responses.cancel(id)).toMatchObject({ id, status: 'cancelled' })
    const stream = client().responses.stream({ response_id: id })
    expect((await stream.finalResponse()).status).toBe('cancelled')
  })

  it('that has completed is unchanged by a cancellation', async () => {
    const completed = await client().responses.create(ask('plain'))

    expect(await client().responses.cancel(completed.id)).toEqual(completed)
  })
})

describe('a Conversation', () => {
  it('is a session, under its own id or any id of the client', async () => {
    const { conversations, responses } = client()
    const conversation = await conversations.create({ metadata: { topic: 'numbers' } })
    for (const { id } of [conversation, { id: 'my own id' }]) {
      await responses.create(ask('memo', { input: 'one', conversation: id }))
      const again = await responses.create(ask('memo', { input: 'two', conversation: id }))
      expect(again).toMatchObject({ output_text: '3: two', conversation: { id } })
    }
    const items = await collect(conversations.items.list(conversation.id, { order: 'asc', limit: 3 }))
    expect(items.map((item) => ('role' in item ? item.role : item.type))).toEqual([
      ...['user', 'assistant', 'user', 'assistant'],
    ])
    const kept = await conversations.update(conversation.id, { metadata: { topic: 'letters' } })
    expect(kept.metadata).toEqual({ topic: 'letters' })
    expect(await conversations.retrieve(conversation.id)).toEqual(kept)
    expect(await conversations.delete(conversation.id)).toMatchObject({ deleted: true })
    await expect(conversations.retrieve(conversation.id)).rejects.toThrow(NotFoundError)
  })

  it('has the answers of the client among its items', async () => {
    const { conversations, responses } = client()
    const conversation = 'with answers'
    const asking = await responses.create(ask('approver', { conversation }))
    const [id = ''] = approvalsOf(asking)
    await responses.create({ model: 'approver', input: [decision(id, false, 'too much')], conversation })

    const items = await collect(conversations.items.list(conversation, { order: 'asc' }))
    expect(items.map(({ type }) => type)).toEqual([
      ...['message', 'mcp_approval_request', 'mcp_approval_response', 'message'],
    ])
    expect(items[2]).toMatchObject({ approval_request_id: id, approve: false, reason: 'too much' })
  })

  it('belongs to its owner', async () => {
    const { id } = await client().conversations.create({})
    const token = await createToken(server().sandbox, 'sessions:read:own,sessions:write:own', 'somebody-else')
    const other = openaiOf({ url: server().url, token })

    await expect(other.conversations.retrieve(id)).rejects.toThrow(NotFoundError)
    await expect(other.conversations.delete(id)).rejects.toThrow(NotFoundError)
    await expect(other.conversations.items.list(id)).rejects.toThrow(NotFoundError)
    expect(await client().conversations.retrieve(id)).toMatchObject({ id })
  })
})

describe('a Response that asks its client', () => {
  it('gets decisions by mcp_approval_response, and shows the tools that follow', async () => {
    const { responses } = client()
    const asking = await responses.create(ask('asker'))
    const [first = '', second = ''] = approvalsOf(asking)
    expect(asking).toMatchObject({ status: 'completed', output_text: 'I need your approval.' })
    expect(asking.output.find(isApproval)).toMatchObject({ name: 'mail', arguments: '{"to":"call_a"}' })

    const input = [decision(first, true), decision(second, false, 'not B')]
    const answer = () => responses.create({ model: 'asker', input, previous_response_id: asking.id })
    const answered = await answer()
    expect(answered).toMatchObject({ id: `${asking.id}-2`, status: 'completed', output_text: 'Sent: 1.' })
    expect(answered.output).toMatchObject([
      { type: 'mcp_call', status: 'failed', approval_request_id: second },
      { type: 'mcp_call', status: 'completed', approval_request_id: first },
      { type: 'message' },
    ])
    expect(await answer()).toEqual(answered)
    expect(await responses.retrieve(asking.id)).toMatchObject({ output_text: 'I need your approval.' })
    expect(await collect(responses.inputItems.list(answered.id, { order: 'asc' }))).toMatchObject([
      { type: 'mcp_approval_response', approval_request_id: first, approve: true, reason: null },
      input[1],
    ])
  })

  it('has a response for each decision, when they come one by one', async () => {
    const { responses } = client()
    const asking = await responses.create(ask('asker'))
    const [first = '', second = ''] = approvalsOf(asking)
    const decide = (id: string, previous_response_id: string) =>
      responses.create({ model: 'asker', input: [decision(id, true)], previous_response_id })
    const next = await decide(first, asking.id)
    const last = await decide(second, next.id)

    expect(approvalsOf(next)).toEqual([second])
    expect([next.id, last.id]).toEqual([`${asking.id}-2`, `${asking.id}-3`])
    expect(last.output_text).toBe('Sent: 2.')
  })

  it('gets the decision on an approval of a child run as a stream', async () => {
    const { responses } = client()
    const asking = await responses.stream(ask('parent')).finalResponse()
    const input = [decision(approvalsOf(asking)[0] ?? '', true)]
    const stream = responses.stream({ model: 'parent', input, previous_response_id: asking.id })

    expect((await stream.finalResponse()).output_text).toBe('My colleague is done.')
  })

  it('shows a decision that somebody else took', async () => {
    const { responses } = client()
    const asking = await responses.create(ask('approver'))
    const [id = ''] = approvalsOf(asking)
    await server().resolve(id.slice('mcpr_'.length), true)
    const input = [decision(id, false)]
    const answered = await responses.create({ model: 'approver', input, previous_response_id: asking.id })

    expect(answered).toMatchObject({ id: `${asking.id}-2`, output_text: 'Refunded by e2e.' })
  })

  it('gets the results of the tools that its client executes', async () => {
    const { responses } = client()
    const color = { name: 'pickColor', description: 'Picks a color.', parameters: { type: 'object' } }
    const asking = await responses.create(ask('painter', { tools: [{ type: 'function', strict: false, ...color }] }))
    const call = asking.output.find(({ type }) => type === 'function_call')
    expect(call).toMatchObject({ name: 'pickColor', arguments: '{"of":["red","blue"]}', call_id: 'call_pick' })
    const input = [{ type: 'function_call_output', call_id: 'call_pick', output: '{"color":"red"}' } as const]
    const answer = () => responses.create({ model: 'painter', input, previous_response_id: asking.id })
    const answered = await answer()

    expect(answered).toMatchObject({ id: `${asking.id}-2`, status: 'completed', output_text: 'pickColor: red.' })
    expect(await answer()).toEqual(answered)
    expect(await collect(responses.inputItems.list(answered.id))).toMatchObject(input)
  })

  it('gets the next message, if it asked for input', async () => {
    const { responses } = client()
    const asking = await responses.create(ask('suspender'))
    const answer = () => responses.create({ model: 'suspender', input: 'Bern', previous_response_id: asking.id })
    const answered = await answer()

    expect([asking.output_text, answered.output_text]).toEqual(['Which city?', 'You said Bern.'])
    expect(await answer()).toEqual(answered)
    expect(await collect(responses.inputItems.list(answered.id))).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Bern' }] },
    ])
  })

  it('takes no decision without the scope for it', async () => {
    const token = await createToken(server().sandbox, 'agents:invoke', 'without-decisions')
    const { responses } = openaiOf({ url: server().url, token })
    const asking = await responses.create(ask('approver'))
    const input = approvalsOf(asking).map((id) => decision(id, true))

    const decided = responses.create({ model: 'approver', input, previous_response_id: asking.id })
    await expect(decided).rejects.toThrow(PermissionDeniedError)
    expect((await server().approvals(runOf(asking))).length).toBe(1)
  })

  it('takes no decision of other callers, and no malformed one', async () => {
    const { responses } = client()
    const asking = await responses.create(ask('approver'))
    const token = await createToken(server().sandbox, 'agents:invoke,approvals:resolve', 'somebody-else')
    const other = openaiOf({ url: server().url, token }).responses
    const [id = ''] = approvalsOf(asking)
    const input = [decision(id, true)]

    await expect(other.create({ model: 'approver', input })).rejects.toThrow(NotFoundError)
    await expect(other.create(ask('approver', { previous_response_id: asking.id }))).rejects.toThrow(NotFoundError)
    await expect(other.retrieve(asking.id)).rejects.toThrow(NotFoundError)
    await expect(other.cancel(asking.id)).rejects.toThrow(NotFoundError)
    await expect(other.inputItems.list(asking.id)).rejects.toThrow(NotFoundError)
    const malformed = [{ ...decision(id, true), approve: 'yes' as unknown as boolean }]
    await expect(responses.create({ model: 'approver', input: malformed })).rejects.toThrow(BadRequestError)
    expect((await server().approvals(runOf(asking))).length).toBe(1)
  })
})
