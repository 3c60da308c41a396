import type { AgentRegistration, RunContext } from '@perdure/core'
import { EVERY_ROW } from '@perdure/ports'
import { createRandom } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { bearer, createTestApp, ORIGIN } from './app.fixture.ts'

const REQUESTS = Number(process.env.PROTOCOL_FUZZ_REQUESTS ?? 400)
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31)
/** Requests to one server, whose storage keeps everything in memory. */
const BATCH = 2_000

const agentOf = (id: string, run: (input: unknown, ctx: RunContext) => Promise<unknown>): AgentRegistration => ({
  ...{ id, description: 'Waits for its client.', agent: { id, run } },
})

const AGENTS = [
  agentOf('asker', async (_, ctx) => ctx.approval('send', { title: 'Send?', payload: { to: 'bob' } })),
  agentOf('picker', async (_, ctx) => ctx.clientTool({ name: 'pick', toolCallId: 'call_1' })),
  agentOf('waiter', async (_, ctx) => ctx.resume?.payload ?? ctx.suspend()),
]

type Json = null | boolean | number | string | Json[] | { [member: string]: Json }
type Random = () => number

const oneOf = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T

/** What a client could send with ids of its own and of somebody else. */
interface Ids {
  readonly runIds: readonly string[]
  readonly approvalIds: readonly string[]
  readonly names: readonly string[]
}

interface Protocol {
  readonly path: (agentId: string, random: Random, ids: Ids) => readonly [method: string, path: string]
  readonly body: (random: Random, ids: Ids) => unknown
}

const PROTOCOLS: Readonly<Record<string, Protocol>> = {
  'the AI SDK': {
    path: (agentId, random, { names }) => {
      const chat = `/agents/${agentId}/chat`
      const id = encodeURIComponent(oneOf(random, names))
      const reads = [`${chat}/${id}/stream?v=7`, `${chat}/${id}/messages`]
      if (random() < 0.1) return ['GET', oneOf(random, reads)]
      return [
        'POST',
        random() < 0.05 ? `${chat}/${id}/stop` : `${chat}?v=${oneOf(random, ['6', '6', '7', '7', '7', '8'])}`,
      ]
    },
    body: (random, { runIds, approvalIds, names }) => ({
      id: oneOf(random, names),
      trigger: oneOf(random, ['submit-message', 'regenerate-message']),
      messages: [
        { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] },
        {
          id: `msg_${oneOf(random, runIds)}`,
          role: oneOf(random, ['assistant', 'assistant', 'user', 'user', 'user', 'system']),
          metadata: { runId: oneOf(random, runIds) },
          parts: [
            { type: 'step-start' },
            {
              ...{ type: 'dynamic-tool', toolName: 'pick', toolCallId: 'call_1', input: {} },
              ...{ state: oneOf(random, ['output-available', 'output-error', 'input-available']), output: 1 },
            },
            {
              ...{ type: 'tool-send', toolCallId: 'x', state: 'approval-responded', input: null },
              approval: { id: oneOf(random, approvalIds), approved: oneOf<Json>(random, [true, false, 'true', 1]) },
            },
            { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AA==' },
          ],
        },
      ],
      tools: [{ name: 'pick', parameters: { type: 'object' } }],
    }),
  },
  'AG-UI': {
    path: (agentId, random, { runIds }) => {
      const url = `/agents/${agentId}/ag-ui`
      return random() < 0.1 ? ['GET', `${url}/${oneOf(random, runIds)}`] : ['POST', url]
    },
    body: (random, { runIds, approvalIds, names }) => ({
      ...{ threadId: oneOf(random, names), runId: oneOf(random, [...runIds, 'r1', 'r2']) },
      protocolVersion: oneOf(random, ['1.0', '1.1', '2.0']),
      messages: [
        { id: 'm1', role: 'user', content: [{ type: 'text', text: 'Hello' }] },
        {
          id: 'call_1',
          role: 'assistant',
          toolCalls: [{ id: 'call_1', type: 'function', function: { name: 'pick' } }],
        },
        { id: 't1', role: 'tool', toolCallId: 'call_1', content: oneOf(random, ['{"a":1}', '{', '']) },
        { id: 'm2', role: oneOf(random, ['user', 'developer', 'tool']), content: 'Hello' },
      ],
      state: { city: 'Bern' },
      tools: [{ name: 'pick', description: 'p', parameters: {} }],
      context: [{ description: 'd', value: 'v' }],
      resume: oneOf<Json>(random, [
        [],
        [
          {
            interruptId: oneOf(random, [...approvalIds, ...runIds.map((id) => `${id}.resume`), 'call_1']),
            status: oneOf(random, ['resolved', 'cancelled']),
            payload: { approved: oneOf<Json>(random, [true, 'yes', null]) },
          },
        ],
      ]),
    }),
  },
  OpenAI: {
    path: (_, random, ids) =>
      random() < 0.25
        ? OPENAI_READS(random, ids)
        : ['POST', oneOf(random, ['/openai/chat/completions', '/openai/responses', '/openai/conversations'])],
    body: (random, ids) => oneOf(random, [openaiBodies.chat, openaiBodies.response])(random, ids),
  },
}

const responseIdOf = (random: Random, { runIds }: Ids) =>
  `resp_${oneOf(random, runIds)}${oneOf(random, ['', '', '-2', '-9', '-0'])}`

/** Requests of Responses and Conversations. */
const OPENAI_READS = (random: Random, ids: Ids): readonly [string, string] => {
  const response = `/openai/responses/${responseIdOf(random, ids)}`
  const conversation = `/openai/conversations/${encodeURIComponent(oneOf(random, ids.names))}`
  return oneOf<readonly [string, string]>(random, [
    ['GET', `${response}?stream=true&starting_after=${oneOf(random, ['0', '3', '999999999999999', '-1', 'x'])}`],
    ['GET', response],
    ['GET', `${response}/input_items?limit=${oneOf(random, ['1', '100', '0'])}&order=asc&after=msg_1`],
    ['POST', `${response}/cancel`],
    ['GET', '/openai/models'],
    ['GET', `/openai/models/${encodeURIComponent(oneOf(random, ids.names))}`],
    ['GET', conversation],
    ['GET', `${conversation}/items?order=desc`],
    ['POST', conversation],
    ['DELETE', conversation],
  ])
}

const OPENAI_TOOLS: Json = [
  { type: 'function', name: 'pick', function: { name: 'pick', parameters: {} }, strict: true },
]

const openaiBodies = {
  chat: (random: Random, { runIds, approvalIds, names }: Ids) => {
    const call = oneOf(random, [...approvalIds, ...runIds.map((id) => `${id}.c:call_1`), 'call_1'])
    return {
      ...{ model: oneOf(random, OPENAI_MODELS), stream: oneOf(random, [true, false, null]), tools: OPENAI_TOOLS },
      messages: [
        { role: 'developer', content: 'Hello' },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }] },
        ...oneOf<Json[]>(random, [
          [],
          [
            { role: 'assistant', content: null, tool_calls: [{ id: call, type: 'function', function: {} }] },
            { role: 'tool', tool_call_id: call, content: oneOf(random, ['{"approved":true}', '{"approved":1}', '{']) },
          ],
        ]),
      ],
      ...{ metadata: { session_id: oneOf(random, names) }, user: 'u', n: 1, stream_options: { include_usage: true } },
    }
  },
  response: (random: Random, ids: Ids) => ({
    ...{ model: oneOf(random, OPENAI_MODELS), stream: oneOf(random, [true, false]), tools: OPENAI_TOOLS },
    ...{ background: oneOf(random, [true, true, false]), instructions: 'Be brief.', metadata: { a: 'b' } },
    ...oneOf<{ [member: string]: Json }>(random, [
      {},
      { previous_response_id: responseIdOf(random, ids) },
      { conversation: oneOf<Json>(random, [oneOf(random, ids.names), { id: oneOf(random, ids.names) }]) },
    ]),
    input: oneOf<Json>(random, [
      'Hello',
      [{ role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
      [
        {
          ...{ type: 'mcp_approval_response', approval_request_id: `mcpr_${oneOf(random, ids.approvalIds)}` },
          approve: oneOf<Json>(random, [true, false, 'true']),
        },
      ],
      [{ type: 'function_call_output', call_id: 'call_1', output: oneOf<Json>(random, ['{"a":1}', [{ text: 'x' }]]) }],
    ]),
  }),
}

const OPENAI_MODELS = ['asker', 'picker', 'waiter', 'echo', 'workflow:steps', 'none']

const ODD: readonly Json[] = [
  ...[null, true, 0, -1, 1e308, '', ' ', '__proto__', 'x'.repeat(5_000), '\ud800', '\u0000', [], {}],
  ...[{ __proto__: null, constructor: 1 }, [[[[[[[]]]]]]], 'run_', 'apr_', 'call_1', '{"approved":true}'],
]

/** Changes one place of the value. */
function damage(value: Json, random: Random): Json {
  if (typeof value !== 'object' || value === null || random() < 0.15) return oneOf(random, ODD)
  const keys = Object.keys(value)
  const key = keys[Math.floor(random() * keys.length)]
  if (key === undefined) return oneOf(random, ODD)
  const kind = random()
  if (Array.isArray(value)) {
    if (kind < 0.15) return value.toSpliced(Number(key), 1)
    if (kind < 0.3) return [...value, ...value]
    return value.with(Number(key), damage(value[Number(key)] ?? null, random))
  }
  if (kind < 0.15) return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key))
  if (kind < 0.2) return { ...value, [`${key}2`]: oneOf(random, ODD) }
  return { ...value, [key]: damage(value[key] ?? null, random) }
}

function damageText(text: string, random: Random): string {
  const at = Math.floor(random() * text.length)
  return oneOf(random, [text.slice(0, at), `${text.slice(0, at)}"${text.slice(at + 1)}`, text + text])
}

const SCOPES = [
  'agents:invoke:*',
  'workflows:execute:*',
  'approvals:resolve:*',
  'sessions:read:own',
  'sessions:write:own',
]

async function startServer() {
  const server = createTestApp({ auth: 'token', agents: AGENTS, config: { protocolBodyLimitBytes: 100_000 } })
  const tokenOf = async (subject: string) =>
    (await server.manage.mint({ name: 'm', scopes: SCOPES, subject }, 'test')).token
  const tokens = { alice: await tokenOf('alice'), bob: await tokenOf('bob') }
  const send = (token: string, [method, path]: readonly [string, string], body?: string) =>
    server.app.fetch(
      new Request(`${ORIGIN}/v1${path}`, {
        method,
        ...(body === undefined || method === 'GET' ? {} : { body }),
        headers: { 'Content-Type': 'application/json', ...bearer(token) },
      }),
    )
  const idle = async () => {
    for (let turn = 0; turn < 12; turn++) {
      server.clock.advance(0)
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
  }
  for (const token of Object.values(tokens)) {
    for (const { id } of AGENTS) {
      const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }]
      const first = await send(token, ['POST', `/agents/${id}/chat`], JSON.stringify({ id: `${id}-chat`, messages }))
      expect(first.status).toBe(200)
    }
  }
  await idle()
  const page = { limit: 100, order: 'asc' } as const
  const runs = (await server.storage.runs.list({}, page, EVERY_ROW)).items
  const approvals = (await server.storage.approvals.list({}, page, EVERY_ROW)).items
  const alices = runs.filter(({ owner }) => owner === 'alice').map(({ id }) => id)
  const ids: Ids = {
    runIds: runs.map(({ id }) => id),
    approvalIds: approvals.map(({ id }) => id),
    names: [
      ...AGENTS.map(({ id }) => `${id}-chat`),
      ...runs.flatMap(({ sessionId = '' }) => [sessionId]),
      'new',
      ' ',
      'ü',
    ],
  }
  const stateOfAlice = async () => [
    await Promise.all(alices.map((id) => server.storage.runs.find(id, EVERY_ROW))),
    (await server.storage.approvals.list({}, page, EVERY_ROW)).items.filter(({ owner }) => owner === 'alice'),
  ]
  return { ...server, ...{ tokens, send, idle, ids, stateOfAlice } }
}

/** Reads what the server would have streamed. */
function project(request: unknown): void {
  const { projector } = request as {
    projector: { opening(of: string): { data: string }[]; rest(): { data: string }[] }
  }
  for (const { data } of [...projector.opening('all'), ...(projector.rest() ?? [])]) {
    if (data !== '[DONE]') JSON.parse(data)
  }
}

describe.each(Object.keys(PROTOCOLS))(`forged requests of %s (FUZZ_SEED=${SEED})`, (name) => {
  it('are answered without an internal error, and change nothing of another user', async () => {
    const { path, body } = PROTOCOLS[name] as Protocol
    const random = createRandom(SEED)
    const statuses = new Map<number, number>()
    for (let sent = 0; sent < REQUESTS; ) {
      const server = await startServer()
      const before = await server.stateOfAlice()
      for (let n = 0; n < BATCH && sent < REQUESTS; n++, sent++) {
        let value = body(random, server.ids) as Json
        for (let times = Math.floor(random() * 4); times > 0; times--) value = damage(value, random)
        const text = JSON.stringify(value)
        const target = path(oneOf(random, AGENTS).id, random, server.ids)
        const response = await server.send(server.tokens.bob, target, random() < 0.1 ? damageText(text, random) : text)
        const answer = await response.text()
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
        expect(response.status === 503 || response.status < 500, `${target.join(' ')} ${text}\n${answer}`).toBe(true)
        for (const request of server.streams.splice(0)) project(request)
        server.clock.advance(0)
        if (n % 50 === 0) server.clock.advance(60_000)
      }
      await server.idle()
      expect(await server.stateOfAlice()).toEqual(before)
    }
    expect(statuses.get(200) ?? 0).toBeGreaterThan(REQUESTS / 40)
    expect(statuses.get(400) ?? 0).toBeGreaterThan(REQUESTS / 40)
  })
})
