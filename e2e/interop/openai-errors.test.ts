import {
  APIError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from 'openai'
import { describe, expect, it } from 'vitest'
import { startDurableServer } from '../durable-server.ts'
import { createToken } from '../perdure-process.ts'
import { ask, chat, openaiOf, PROTOCOLS_CONFIG, serveForFile } from './openai-client.ts'

const server = serveForFile()
const client = () => openaiOf(server())

/** A client that notes each of its requests, repeated ones too. */
function counted(on = server()) {
  const requests: string[] = []
  const one = openaiOf(on, {
    fetch: (...request: Parameters<typeof fetch>) => {
      requests.push(String(request[0]))
      return fetch(...request)
    },
  })
  return { one, requests }
}

const part = (type: string, more: object) => [{ role: 'user', content: [{ type, ...more }] }]

describe('the OpenAI client gets', () => {
  it('a failed run as its own class, and does not start it again', async () => {
    const { one, requests } = counted()
    await expect(one.chat.completions.create(chat('failer'))).rejects.toThrow(InternalServerError)
    expect(requests).toHaveLength(1)
    await expect(client().chat.completions.stream(chat('failer')).finalContent()).rejects.toThrow(APIError)
    expect(await client().responses.create(ask('failer'))).toMatchObject({
      ...{ status: 'failed', output_text: 'So far so good.' },
      error: { code: 'server_error', message: expect.stringMatching(/^An error occurred \(run run_\w+\)$/) },
    })
    expect((await client().responses.stream(ask('failer')).finalResponse()).status).toBe('failed')
  })

  it.each([
    ['an unknown token', AuthenticationError, 'auth-invalid', ask('plain'), { apiKey: 'perdure_none' }],
    ['an agent that the token may not start', PermissionDeniedError, 'scope-denied', ask('plain'), undefined],
    ['an unknown agent', NotFoundError, 'agent-not-found', ask('none'), {}],
    ['an unknown workflow', NotFoundError, 'workflow-not-found', ask('workflow:none'), {}],
    ['an empty input', BadRequestError, 'validation-failed', ask('plain', { input: [] }), {}],
    ['an unknown response', NotFoundError, 'run-not-found', ask('plain', { previous_response_id: 'resp_none' }), {}],
  ])('the refusal of %s as its own class', async (_, ErrorClass, code, body, more) => {
    const token =
      more === undefined ? await createToken(server().sandbox, 'agents:invoke:talker', 'narrow') : server().token
    const one = openaiOf({ url: server().url, token }, more ?? {})
    const error = await one.responses.create(body as ReturnType<typeof ask>).catch((thrown: unknown) => thrown)

    expect(error).toBeInstanceOf(ErrorClass)
    expect(error).toMatchObject({ code, requestID: expect.any(String) })
  })

  it.each<[string, string, object]>([
    ['a hosted tool', 'tools.0.type', ask('plain', { tools: [{ type: 'web_search' }] })],
    ['background without storage', 'store', ask('plain', { store: false, background: true })],
    ['a conversation without storage', 'store', ask('plain', { store: false, conversation: 'c' })],
    ['a stored file', 'input.0.content.0', ask('plain', { input: part('input_file', { file_id: 'file_1' }) })],
    ['audio', 'input.0.content.0.type', ask('plain', { input: part('input_audio', { input_audio: {} }) })],
  ])('the refusal of %s in a Response with the name of the parameter', async (_, param, body) => {
    const refused = client().responses.create(body as ReturnType<typeof ask>)

    await expect(refused).rejects.toMatchObject({ status: 400, code: 'unsupported_parameter', param })
  })

  it('the refusal of two places to continue', async () => {
    const { id } = await client().responses.create(ask('plain'))
    const body = ask('plain', { previous_response_id: id, conversation: 'c' })

    await expect(client().responses.create(body)).rejects.toMatchObject({ status: 400, param: 'conversation' })
  })

  it.each<[string, string, object]>([
    ['several answers', 'n', { n: 2 }],
    ['log probabilities', 'logprobs', { logprobs: true }],
    ['an answer with audio', 'audio', { audio: { voice: 'ash', format: 'wav' } }],
    ['functions', 'functions', { functions: [{ name: 'f' }] }],
    ['a tool of OpenAI', 'tools.0.type', { tools: [{ type: 'custom', custom: { name: 'c' } }] }],
    ['audio', 'messages.0.content.0.type', { messages: part('input_audio', { input_audio: {} }) }],
    ['a stored file', 'messages.0.content.0', { messages: part('file', { file: { file_id: 'file_1' } }) }],
  ])('the refusal of %s in a Chat Completion with the name of the parameter', async (_, param, more) => {
    const error = await client()
      .chat.completions.create(chat('plain', more))
      .catch((thrown: unknown) => thrown)

    expect(error).toBeInstanceOf(BadRequestError)
    expect(error).toMatchObject({ code: 'unsupported_parameter', param })
  })

  it('the refusal of a busy agent, and does not repeat the request', async () => {
    const { one, requests } = counted()
    const { id } = await one.responses.create(ask('single', { background: true }))
    requests.length = 0
    await expect(one.responses.create(ask('single'))).rejects.toThrow(ConflictError)
    expect(requests).toHaveLength(1)
    await one.responses.cancel(id)
  })

  it('the refusal of too many requests as its own class, with the time to wait', async () => {
    const limited = await startDurableServer(PROTOCOLS_CONFIG, { E2E_REQUESTS: '3' })
    const list = () => openaiOf(limited, { maxRetries: 0 }).models.list()
    for (let n = 0; n < 3; n++) await list()
    const error = (await list().catch((thrown: unknown) => thrown)) as RateLimitError

    expect(error).toBeInstanceOf(RateLimitError)
    expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded' })
    expect(Number(error.headers.get('retry-after'))).toBeGreaterThan(0)
  })
})
