import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../operations/index.ts'
import { OpenaiConversationRequest } from '../protocols/openai/schemas.ts'
import { PageEntries } from './list.ts'
import { BindMcpServerRequest } from './mcp.ts'
import { CreateFactRequest, UpdateFactRequest } from './memory.ts'
import { Metadata } from './metadata.ts'
import { RunRequest } from './run-requests.ts'
import { CreateSessionRequest, Session, UpdateSessionRequest } from './sessions.ts'
import { MintTokenRequest } from './tokens.ts'
import { CreateTriggerRequest } from './triggers.ts'
import { ExecuteRequest } from './workflows.ts'

const Page = v.strictObject(PageEntries)

describe('PageEntries', () => {
  it('defaults to a limit of 50, newest first', () => {
    expect(v.parse(Page, {})).toEqual({ limit: 50, order: 'desc' })
  })

  it.each(['1', '50', '200'])('accepts the limit %s', (limit) => {
    expect(v.parse(Page, { limit }).limit).toBe(Number(limit))
  })

  it.each(['0', '201', '-1', '1.5', '1e2', ' 5', '', 'all'])('rejects the limit %j', (limit) => {
    expect(v.is(Page, { limit })).toBe(false)
  })

  it('rejects an unknown order', () => {
    expect(v.is(Page, { order: 'random' })).toBe(false)
  })
})

describe('Metadata', () => {
  const entries = (count: number, value: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, value]))

  it('accepts 16 keys of 512 characters and rejects more', () => {
    expect(v.is(Metadata, entries(16, 'x'.repeat(512)))).toBe(true)
    expect(v.is(Metadata, entries(17, 'x'))).toBe(false)
    expect(v.is(Metadata, entries(1, 'x'.repeat(513)))).toBe(false)
    expect(v.is(Metadata, { key: 1 })).toBe(false)
  })

  it('reserves the keys of the server in every request', () => {
    const metadata = { 'interop.ref': 'message-1' }
    const requests = [RunRequest, ExecuteRequest, CreateSessionRequest]

    expect(requests.map((schema) => v.is(schema, { metadata }))).toEqual([false, false, false])
    expect(requests.map((schema) => v.is(schema, { metadata: { ref: 'x' } }))).toEqual([true, true, true])
    expect(v.is(OpenaiConversationRequest, { metadata })).toBe(false)
  })

  it('lets a request send back the metadata of a session as they are shown, and counts only its own keys', () => {
    const own = entries(16, 'x')

    expect(v.is(UpdateSessionRequest, { metadata: { ...own, 'interop.id': 'c', 'interop.ref': 'm' } })).toBe(true)
    expect(v.is(UpdateSessionRequest, { metadata: { ...own, more: 'x' } })).toBe(false)
    expect(v.is(Session.entries.metadata, { ...own, 'interop.id': 'c' })).toBe(true)
  })

  it('reserves them in every operation that sets the metadata of a run or session', () => {
    const sent = OPERATIONS.flatMap(({ id, body }) => {
      const { metadata } = (body as { readonly entries?: v.ObjectEntries } | undefined)?.entries ?? {}
      // The server keeps no values of its own in the metadata of facts.
      return metadata === undefined || id.startsWith('memory.') ? [] : [{ id, metadata }]
    })

    expect(sent.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['agents.run', 'workflows.execute', 'sessions.create', 'openai.chat-completion']),
    )
    for (const key of ['interop.ref', 'interop.id', 'interop.']) {
      const accepting = sent.filter(({ metadata }) => v.is(metadata, { ok: 'x', [key]: 'x' }))
      // The use case compares them with those of the session.
      expect(accepting.map(({ id }) => id)).toEqual(['sessions.update'])
    }
    expect(sent.filter(({ metadata }) => !v.is(metadata, { ok: 'x', interop: 'x' }))).toEqual([])
  })

  it('rejects an array, whose indexes would become keys', () => {
    const { issues } = v.safeParse(RunRequest, { metadata: ['a'] })
    expect(issues?.map((issue) => v.getDotPath(issue))).toEqual(['metadata'])
  })
})

describe('RunRequest', () => {
  it('rejects an array as the budget', () => {
    expect(v.is(RunRequest, { budget: {} })).toBe(true)
    expect(v.is(RunRequest, { budget: [] })).toBe(false)
  })
})

describe.each([
  ['RunRequest', RunRequest],
  ['ExecuteRequest', ExecuteRequest],
])('%s', (_, schema) => {
  it.each([
    { priority: -100 },
    { priority: 100 },
    { delayMs: 0 },
    { delayMs: 31_536_000_000 },
    { startAt: '2027-01-31T09:00:00Z' },
    { startAt: '2027-01-31T09:00:00.5+02:00', priority: 1 },
  ])('accepts %j', (body) => {
    expect(v.is(schema, body)).toBe(true)
  })

  it.each([
    { priority: 101 },
    { priority: -101 },
    { priority: 0.5 },
    { priority: '1' },
    { delayMs: -1 },
    { delayMs: 31_536_000_001 },
    { startAt: '2027-01-31T09:00:00' },
    { startAt: '2027-02-30T09:00:00Z' },
    { startAt: 1_800_000_000_000 },
    { startAt: null },
  ])('rejects %j and names the member', (body) => {
    const { issues } = v.safeParse(schema, body)
    expect(issues?.map((issue) => v.getDotPath(issue))).toEqual(Object.keys(body))
  })

  it('rejects two start times', () => {
    const { issues } = v.safeParse(schema, { startAt: '2027-01-31T09:00:00Z', delayMs: 5 })
    expect(issues?.map(({ message }) => message)).toEqual(['startAt and delayMs exclude each other'])
  })

  it('still rejects an unknown member', () => {
    const { issues } = v.safeParse(schema, { delay: 5 })
    expect(issues?.map((issue) => v.getDotPath(issue))).toEqual(['delay'])
  })
})

describe('UpdateFactRequest', () => {
  it('accepts any subset of the members of a fact and rejects unknown members', () => {
    expect(v.is(UpdateFactRequest, {})).toBe(true)
    expect(v.is(CreateFactRequest, {})).toBe(false)
    expect(v.is(UpdateFactRequest, { importance: 2 })).toBe(false)
    expect(v.is(UpdateFactRequest, { owner: 'me' })).toBe(false)
  })
})

describe('MintTokenRequest', () => {
  it('rejects scopes that cannot be granted and reports their index', () => {
    const result = v.safeParse(MintTokenRequest, { name: 'ci', scopes: ['agents:read', 'agents:fly'] })
    expect(result.issues?.map((issue) => v.getDotPath(issue))).toEqual(['scopes.1'])
  })

  it('accepts 1 to 64 scopes', () => {
    const scopes = (count: number) => Array.from({ length: count }, (_, index) => `agents:read:a${index}`)
    expect(v.is(MintTokenRequest, { name: 'ci', scopes: scopes(64) })).toBe(true)
    expect(v.is(MintTokenRequest, { name: 'ci', scopes: scopes(65) })).toBe(false)
    expect(v.is(MintTokenRequest, { name: 'ci', scopes: [] })).toBe(false)
  })
})

describe('BindMcpServerRequest', () => {
  it('rejects a stdio server, which would start a process', () => {
    expect(v.is(BindMcpServerRequest, { id: 'a', transport: 'http', url: 'https://mcp.example.com' })).toBe(true)
    expect(v.is(BindMcpServerRequest, { id: 'a', transport: 'stdio', command: 'sh' })).toBe(false)
  })
})

describe('CreateTriggerRequest', () => {
  const target = { agentId: 'echo' }

  it('fills in the default policies', () => {
    expect(v.parse(CreateTriggerRequest, { id: 't', kind: 'interval', intervalMs: 1_000, target })).toEqual({
      id: 't',
      kind: 'interval',
      intervalMs: 1_000,
      target,
      enabled: true,
      catchUp: 'latest',
      maxCatchUp: 10,
      catchUpWindowMs: 86_400_000,
      overlap: 'skip',
      jitterMs: 0,
    })
  })

  it.each([
    { id: 't', kind: 'cron', intervalMs: 1_000, target },
    { id: 't', kind: 'interval', cron: '* * * * *', target },
    { id: 't', kind: 'interval', intervalMs: 0, target },
    { id: 't', kind: 'event', event: 'a b', target },
    { id: 't', kind: 'idle', idleMs: 1_000 },
    { id: 't', kind: 'idle', idleMs: 1_000, target: {} },
    { id: 't', kind: 'idle', idleMs: 1_000, target: { agentId: 'a', workflowId: 'b' } },
    { id: 't', kind: 'weekly', target },
    { id: 'a/b', kind: 'interval', intervalMs: 1_000, target },
  ])('rejects %j', (request) => {
    expect(v.is(CreateTriggerRequest, request)).toBe(false)
  })
})

describe('CreateTriggerRequest.target', () => {
  const problemOf = (target: unknown) => {
    const given = { id: 'nightly', kind: 'interval', intervalMs: 60_000, target }
    return v.safeParse(CreateTriggerRequest, given).issues?.map(({ message }) => message) ?? []
  }

  it('rejects an unknown member and names it', () => {
    expect(problemOf({ agentId: 'a', budget: {} })).toEqual([expect.stringContaining('has no member budget')])
    expect(problemOf({ workflow: 'w' })).toEqual([expect.stringContaining('has no member workflow:')])
  })

  it('requires either an agentId or a workflowId', () => {
    for (const target of [{}, { input: 1 }, 'a', [], { agentId: 'a', workflowId: 'w' }]) {
      expect(problemOf(target)).toEqual(['must name an agentId or a workflowId'])
    }
    expect(problemOf({ agentId: 'a', input: 1 })).toEqual([])
  })
})
