import { BadRequestError, NotFoundError } from 'openai'
import { describe, expect, it } from 'vitest'
import { createToken } from '../perdure-process.ts'
import { chat, chatAnswer, collect, openaiOf, serveForFile, TALK } from './openai-client.ts'

const server = serveForFile()
const client = () => openaiOf(server())

describe('models', () => {
  it('are the agents and workflows that the token may start', async () => {
    const token = await createToken(server().sandbox, 'agents:invoke:plain,workflows:execute:pipeline', 'somebody-else')
    const ids = async (one: ReturnType<typeof client>) => (await collect(one.models.list())).map(({ id }) => id)

    expect(await ids(client())).toEqual(expect.arrayContaining(['talker', 'workflow:pipeline']))
    expect(await ids(openaiOf({ url: server().url, token }))).toEqual(['plain', 'workflow:pipeline'])
    expect(await client().models.retrieve('plain')).toEqual({
      ...{ id: 'plain', object: 'model', created: 0, owned_by: 'perdure' },
    })
    await expect(client().models.retrieve('none')).rejects.toThrow(NotFoundError)
  })

  it('include workflows, which answer like agents', async () => {
    const { choices } = await client().chat.completions.create(chat('workflow:pipeline'))

    expect(choices[0]?.message.content).toBe('piped: t')
    expect(await client().responses.create({ model: 'workflow:pipeline', input: 't' })).toMatchObject({
      ...{ model: 'workflow:pipeline', output_text: 'piped: t' },
    })
  })
})

describe('a Chat Completion', () => {
  it('is given as a whole, and in chunks with their usage', async () => {
    const { data, response } = await client().chat.completions.create(chat('talker')).withResponse()
    expect(data.choices[0]).toMatchObject({ finish_reason: 'stop', message: { role: 'assistant', content: TALK } })
    expect(data.id).toBe(`chatcmpl-${response.headers.get('x-perdure-run-id')}`)

    const stream = client().chat.completions.stream({ ...chat('returner'), stream_options: { include_usage: true } })
    const completion = await stream.finalChatCompletion()
    expect(completion.choices[0]?.message.content).toBe('Hello there')
    expect(completion.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 })
  })

  it('is the result of a run that says nothing', async () => {
    expect((await client().chat.completions.create(chat('plain'))).choices[0]?.message.content).toBe('forty-two')
  })

  it('shows what the agent thinks, and no tool of the server', async () => {
    const chunks = await collect(await client().chat.completions.create({ ...chat('tooler'), stream: true }))
    const deltas = chunks.map(({ choices }) => choices[0]?.delta as { readonly reasoning_content?: string })

    expect(deltas.flatMap(({ reasoning_content: text = '' }) => text).join('')).toBe('I should write two mails.')
    expect(chunks.every(({ choices }) => choices[0]?.delta.tool_calls === undefined)).toBe(true)
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop')
  })

  it('passes the whole chat, images, settings and metadata to the run', async () => {
    const { data, response } = await client()
      .chat.completions.create({
        ...{ model: 'mirror', user: 'user-7', temperature: 0.3, metadata: { project: 'p1' } },
        messages: [
          { role: 'developer', content: 'Be brief.' },
          { role: 'user', content: 'one' },
          { role: 'assistant', content: 'two' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'three' },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
              { type: 'file', file: { file_data: 'data:application/pdf;base64,AA==', filename: 'a.pdf' } },
            ],
          },
        ],
      })
      .withResponse()
    const { text, messages, settings } = JSON.parse(data.choices[0]?.message.content ?? '')

    expect({ text, settings }).toEqual({ text: 'three', settings: { temperature: 0.3 } })
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
    expect(messages.at(-1).content.slice(1)).toEqual([
      { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AA==' },
      { type: 'file', mediaType: 'application/pdf', url: 'data:application/pdf;base64,AA==', name: 'a.pdf' },
    ])
    const run = await server().run(response.headers.get('x-perdure-run-id') ?? '')
    expect(run).toMatchObject({ userId: 'user-7', metadata: { project: 'p1' } })
  })

  it('continues in the session that its metadata names, with the new messages', async () => {
    const metadata = { session_id: 'my chat' }
    const say = async (...texts: string[]) => {
      const messages = texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }))
      const { choices } = await client().chat.completions.create({ model: 'memo', metadata, messages } as never)
      return choices[0]?.message.content
    }

    expect([await say('one'), await say('one', '1: one', 'two')]).toEqual(['1: one', '3: two'])
  })

  it('is the same stream for the same Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': 'chat-1' }
    const stream = async () =>
      collect(await client().chat.completions.create({ ...chat('talker'), stream: true }, { headers }))
    const first = await stream()

    expect(await stream()).toEqual(first)
    expect(first.length).toBeGreaterThan(40)
  })
})

describe('the calls of a Chat Completion', () => {
  const asking = (model: string, more: object = {}) =>
    client()
      .chat.completions.create(chat(model, more))
      .then(({ choices }) => choices[0])

  it.each([
    ['{"approved":true}', 'Refunded by e2e.'],
    ['{"approved":false,"reason":"too much"}', 'Not refunded.'],
  ])('ask for an approval, which the tool message %s decides', async (content, text) => {
    const choice = await asking('approver')
    const calls = choice?.message.tool_calls ?? []
    const answer = (sent: string) =>
      client().chat.completions.create({ model: 'approver', messages: chatAnswer(calls, [sent]) })

    expect(choice?.finish_reason).toBe('tool_calls')
    expect(calls).toMatchObject([{ id: expect.stringMatching(/^apr_/), function: { name: 'perdure_approval' } }])
    expect(JSON.parse((calls[0] as { function: { arguments: string } }).function.arguments)).toMatchObject({
      ...{ name: 'refund', title: 'Refund 40 EUR?', payload: { amount: 40 } },
    })
    for (const malformed of ['yes', '{"approved":"true"}', '']) {
      await expect(answer(malformed)).rejects.toThrow(BadRequestError)
    }
    expect((await answer(content)).choices[0]?.message.content).toBe(text)
    expect((await answer(content)).choices[0]?.message.content).toBe(text)
  })

  it('ask for two approvals at once, whose answers continue one run', async () => {
    const calls = (await asking('asker'))?.message.tool_calls ?? []
    const messages = chatAnswer(calls, ['{"approved":true}', '{"approved":false}'])
    const answered = await client().chat.completions.create({ model: 'asker', messages })

    expect(calls).toHaveLength(2)
    expect(answered.choices[0]?.message.content).toBe('Sent: 1.')
  })

  it('cannot be answered by another caller, nor by an unknown id', async () => {
    const calls = (await asking('approver'))?.message.tool_calls ?? []
    const token = await createToken(server().sandbox, 'agents:invoke,approvals:resolve', 'somebody-else')
    const answer = (one: ReturnType<typeof client>, of: readonly { id: string }[]) =>
      one.chat.completions.create({ model: 'approver', messages: chatAnswer(of, ['{"approved":true}']) })

    await expect(answer(openaiOf({ url: server().url, token }), calls)).rejects.toThrow(NotFoundError)
    await expect(answer(client(), [{ id: 'apr_none' }])).rejects.toThrow(NotFoundError)
    await expect(answer(client(), [{ id: 'call_of_somebody' }])).rejects.toThrow(BadRequestError)
  })

  it('ask the client to execute a tool', async () => {
    const tools = [{ type: 'function', function: { name: 'pickColor', parameters: { type: 'object' } } }] as const
    const choice = await asking('painter', { tools })
    const calls = choice?.message.tool_calls ?? []
    const messages = chatAnswer(calls, ['{"color":"blue"}'])
    const answered = await client().chat.completions.create({ model: 'painter', messages, tools: [...tools] })

    expect(choice?.finish_reason).toBe('tool_calls')
    expect(calls).toMatchObject([{ function: { name: 'pickColor', arguments: '{"of":["red","blue"]}' } }])
    expect(answered.choices[0]?.message.content).toBe('pickColor: blue.')
  })

  it('are in the stream of the run, which the stream of the answer continues', async () => {
    const first = await client().chat.completions.stream(chat('asker')).finalChatCompletion()
    const calls = first.choices[0]?.message.tool_calls ?? []
    const messages = chatAnswer(calls, ['{"approved":true}', '{"approved":true}'])
    const second = await client().chat.completions.stream({ model: 'asker', messages }).finalChatCompletion()

    expect(first.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: 'I need your approval.' },
    })
    expect(second.choices[0]?.message.content).toBe('Sent: 2.')
    expect(second.id).toBe(`${first.id}-2`)
  })
})
