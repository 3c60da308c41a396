import { createInMemoryMeter, createInMemoryStorage } from '@berth/in-memory'
import {
  AppError,
  type EpochMs,
  type McpCall,
  type McpClient,
  type McpEndpoint,
  type McpOutcome,
  type PageQuery,
} from '@berth/ports'
import { createManualClock, createSequenceIds } from '@berth/testkit'
import { describe, expect, it } from 'vitest'
import type { RunContext } from '../agents/agent.ts'
import { createRecall } from '../idempotency/recall.ts'
import { createPhase } from '../lifecycle/phase.ts'
import { agentOf, createEngine, silentLogger } from '../runs/engine.fixture.ts'
import type { RunRequestBody } from '../runs/start-run.ts'
import { createMcp, createMcpService } from './mcp.ts'
import type { AllowedBindings } from './mcp-servers.ts'
import { interruptCalls } from './use-mcp.ts'

const ALICE = { subject: 'alice', scopes: [] }
const KEY = { id: 'k'.repeat(64), fingerprint: 'f' }
const PAGE: PageQuery = { limit: 50, order: 'asc' }
const ALLOWED: AllowedBindings = { hosts: ['mcp.example', 'localhost:3000'], headersRefs: ['env:H', 'file:keys/a'] }
const WEB = { id: 'web', url: 'https://mcp.example/mcp' }
const STDIO: McpEndpoint = { transport: 'stdio', id: 'files', command: 'files', args: [], env: {}, envRefs: {} }

const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof AppError ? error.id : error),
  )

function createWorld(over: { call?: McpClient['call'] } = {}) {
  const storage = createInMemoryStorage()
  const clock = createManualClock()
  const calls: [McpEndpoint, McpCall][] = []
  const log: string[] = []
  const mcpClient: McpClient = {
    tools: async ({ id }) => {
      log.push(`tools ${id}`)
      if (id === 'down') throw new AppError('mcp-server-unavailable')
      return ['b', 'a'].sort().map((name) => ({ name, inputSchema: {} }))
    },
    async call(endpoint, call) {
      calls.push([endpoint, call])
      return over.call?.(endpoint, call) ?? { ok: true, value: call.arguments }
    },
    status: (id) => (id === 'files' ? 'connected' : 'disconnected'),
    disconnect: async (id) => void log.push(`disconnect ${id}`),
    close: async () => undefined,
  }
  const phase = createPhase()
  phase.enter('ready')
  const parts = {
    configured: [
      { endpoint: STDIO },
      { endpoint: { ...STDIO, id: 'down' }, tokenExpiresAt: (clock.now() + 90_000) as EpochMs },
    ],
    ...{ mcpServers: storage.mcpServers, mcpClient, allowed: ALLOWED },
    ...{ timers: clock, logger: silentLogger },
  }
  const ids = createSequenceIds()
  const mcp = createMcp({
    ...{ ...parts, unitOfWork: storage.unitOfWork, clock, ids, phase, basePath: '/v1', idempotencyTtlMs: 86_400_000 },
  })
  const recall = createRecall({ idempotency: storage.idempotency, clock })
  return { ...mcp, parts, storage, clock, phase, calls, log, recall, ids }
}

describe('manageMcp', () => {
  it('binds a server once under a key, lists it beside those of the configuration, and connects to nobody', async () => {
    const { manageMcp, storage, log } = createWorld()

    const replies = await Promise.all([1, 2, 3].map(() => manageMcp.bind({ server: WEB, principal: ALICE, key: KEY })))

    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201])
    expect(replies[0]?.location).toBe('/v1/mcp/servers/web')
    expect((await manageMcp.list(PAGE)).items).toEqual([
      { id: 'down', transport: 'stdio', source: 'config', status: 'disconnected' },
      { id: 'files', transport: 'stdio', source: 'config', status: 'connected' },
      { ...WEB, transport: 'http', source: 'api', status: 'disconnected' },
    ])
    expect(await storage.audit.read({ afterSeq: 0, limit: 9 })).toMatchObject([{ action: 'mcp.bind', target: 'web' }])
    expect(log).toEqual([])
  })

  it('refuses an id that is taken, here or in the configuration', async () => {
    const { manageMcp } = createWorld()
    await manageMcp.bind({ server: WEB, principal: ALICE })

    for (const id of ['web', 'files']) {
      expect(await refusal(manageMcp.bind({ server: { ...WEB, id }, principal: ALICE }))).toBe('mcp-server-exists')
    }
  })

  it.each([
    ['https://mcp.example/mcp', 'done'],
    ['https://MCP.example:443/', 'done'],
    ['http://localhost:3000/mcp', 'done'],
    ['http://localhost/mcp', 'mcp-host-denied'],
    ['http://localhost:3001/mcp', 'mcp-host-denied'],
    ['https://mcp.example:8443/', 'mcp-host-denied'],
    ['https://evil.example/mcp.example', 'mcp-host-denied'],
    ['https://mcp.example.evil.example/', 'mcp-host-denied'],
    ['https://evil-mcp.example/', 'mcp-host-denied'],
    ['http://127.0.0.1:3000/', 'mcp-host-denied'],
    ['http://169.254.169.254/latest', 'mcp-host-denied'],
    ['http://[::1]:3000/', 'mcp-host-denied'],
    ['https://mcp.example@evil.example/', 'validation-failed'],
    ['https://user:secret@mcp.example/', 'validation-failed'],
    ['file:///etc/passwd', 'validation-failed'],
    ['ftp://mcp.example/', 'validation-failed'],
  ])('answers %s with %s', async (url, outcome) => {
    const { manageMcp } = createWorld()

    expect(await refusal(manageMcp.bind({ server: { ...WEB, url }, principal: ALICE }))).toBe(outcome)
  })

  it('denies a bound host that has left the list, when it is used', async () => {
    const { manageMcp, parts, ...world } = createWorld()
    await manageMcp.bind({ server: WEB, principal: ALICE })
    const { useMcp } = createMcp({
      ...{ ...parts, ...world, unitOfWork: world.storage.unitOfWork, allowed: { ...ALLOWED, hosts: [] } },
      ...{ basePath: '/v1', idempotencyTtlMs: 1_000 },
    })

    expect(await refusal(useMcp.tools('web', PAGE))).toBe('mcp-host-denied')
    expect(await refusal(useMcp.call({ serverId: 'web', tool: 'a', arguments: {} }))).toBe('mcp-host-denied')
  })

  it.each([
    ['env:H', 'done'],
    ['file:keys/a', 'done'],
    ['env:BERTH_PEPPER', 'mcp-headers-denied'],
    ['env:HH', 'mcp-headers-denied'],
    ['env:h', 'mcp-headers-denied'],
    ['file:/etc/passwd', 'mcp-headers-denied'],
    ['file:keys/../keys/a', 'mcp-headers-denied'],
  ])('sends %s to a server that is bound over REST: %s', async (headersRef, outcome) => {
    const { manageMcp, storage } = createWorld()

    expect(await refusal(manageMcp.bind({ server: { ...WEB, headersRef }, principal: ALICE }))).toBe(outcome)
    expect(await storage.mcpServers.list()).toHaveLength(outcome === 'done' ? 1 : 0)
  })

  it('sends no secret that has left the list to a server that was bound with it', async () => {
    const { manageMcp, parts, calls, ...world } = createWorld()
    await manageMcp.bind({ server: { ...WEB, headersRef: 'env:H' }, principal: ALICE })
    const { useMcp } = createMcp({
      ...{ ...parts, ...world, unitOfWork: world.storage.unitOfWork, allowed: { ...ALLOWED, headersRefs: [] } },
      ...{ basePath: '/v1', idempotencyTtlMs: 1_000 },
    })

    expect(await refusal(useMcp.tools('web', PAGE))).toBe('mcp-headers-denied')
    expect(await refusal(useMcp.call({ serverId: 'web', tool: 'a', arguments: {} }))).toBe('mcp-headers-denied')
    expect([calls, world.log]).toEqual([[], []])
  })

  it('removes a bound server and ends its connection; one of the configuration stays', async () => {
    const { manageMcp, storage, log } = createWorld()
    await manageMcp.bind({ server: { ...WEB, headersRef: 'env:H' }, principal: ALICE })

    expect(await manageMcp.remove({ id: 'web', principal: ALICE })).toEqual({ status: 204 })
    expect(await refusal(manageMcp.remove({ id: 'web', principal: ALICE }))).toBe('mcp-server-not-found')
    expect(await refusal(manageMcp.remove({ id: 'files', principal: ALICE }))).toBe('validation-failed')

    expect(await storage.mcpServers.list()).toEqual([])
    expect(log).toEqual(['disconnect web'])
  })
})

describe('useMcp', () => {
  const call = { serverId: 'files', tool: 'a', arguments: { x: 1 } }

  it('lists and calls tools, and says what is not there', async () => {
    const { useMcp } = createWorld()

    expect((await useMcp.tools('files', PAGE)).items.map(({ name }) => name)).toEqual(['a', 'b'])
    expect(await useMcp.call(call)).toEqual({ status: 200, body: { ok: true, value: { x: 1 } } })
    expect(await refusal(useMcp.tools('unknown', PAGE))).toBe('mcp-server-not-found')
    expect(await refusal(useMcp.call({ ...call, tool: 'c' }))).toBe('mcp-tool-not-found')
    expect(await refusal(useMcp.call({ ...call, serverId: 'down' }))).toBe('mcp-server-unavailable')
  })

  it('takes no new calls while the server drains', async () => {
    const { useMcp, phase } = createWorld()
    phase.enter('draining')

    expect(await refusal(useMcp.call(call))).toBe('server-draining')
  })

  it('calls a tool once under a key, whatever comes of it', async () => {
    const failed: McpOutcome = { ok: false, error: { kind: 'timeout', message: 'late' } }
    const { useMcp, calls, recall } = createWorld({ call: async () => failed })

    const first = await useMcp.call({ ...call, key: KEY })

    expect(first).toEqual({ status: 200, body: failed })
    expect(JSON.parse((await recall(KEY))?.json ?? '')).toEqual(failed)
    expect(await useMcp.call({ ...call, key: KEY })).toMatchObject({ status: 200, replayed: true })
    expect(calls).toHaveLength(1)
  })

  it('answers the key also when the storage was busy as the call came back', async () => {
    const { parts, storage, clock, phase, ids, calls, recall } = createWorld()
    let refusals = 2
    const commit: typeof storage.unitOfWork.commit = (writes) =>
      writes.some(({ type }) => type === 'idempotency.complete') && refusals-- > 0
        ? Promise.reject(new AppError('SQLITE_BUSY'))
        : storage.unitOfWork.commit(writes)
    const { useMcp } = createMcp({
      ...{ ...parts, unitOfWork: { commit }, clock, ids, phase, basePath: '/v1', idempotencyTtlMs: 86_400_000 },
    })

    const answered = useMcp.call({ ...call, key: KEY })
    for (let turn = 0; turn < 9; turn++) {
      clock.advance(100)
      await new Promise<void>((resolve) => setImmediate(resolve))
    }

    expect(await answered).toMatchObject({ status: 200, body: { ok: true } })
    expect(await recall(KEY)).toMatchObject({ status: 200, replayed: true })
    expect(calls).toHaveLength(1)
  })

  it('answers the key of a call that breaks in the client', async () => {
    const { useMcp, recall } = createWorld({ call: () => Promise.reject(new TypeError('secret detail')) })

    const reply = await useMcp.call({ ...call, key: KEY })

    expect(reply).toMatchObject({ status: 200, body: { ok: false, error: { kind: 'execution_failed' } } })
    expect(JSON.stringify([reply, await recall(KEY)])).not.toContain('secret detail')
  })

  it('leaves no record of a call that was refused', async () => {
    const { useMcp, recall } = createWorld()
    await refusal(useMcp.call({ ...call, tool: 'c', key: KEY }))
    await refusal(useMcp.call({ ...call, serverId: 'down', key: KEY }))

    expect(await recall(KEY)).toBeUndefined()
  })

  it('tells a second request with the key that the first is under way, and after a crash what is known', async () => {
    const { useMcp, recall, storage, calls } = createWorld({ call: () => new Promise(() => undefined) })
    void useMcp.call({ ...call, key: KEY })
    await expect.poll(() => calls.length).toBe(1)

    expect(await refusal(useMcp.call({ ...call, key: KEY }))).toBe('idempotency-in-flight')
    await storage.unitOfWork.commit([interruptCalls])

    const reply = await recall(KEY)
    expect(reply).toMatchObject({ status: 200, replayed: true })
    expect(JSON.parse(reply?.json ?? '')).toMatchObject({ ok: false, error: { kind: 'execution_failed' } })
    expect(calls).toHaveLength(1)
  })

  it('knows how long configured tokens are still good, also when they are not any more', () => {
    const { tokenFreshness, clock } = createWorld()
    expect(tokenFreshness()).toEqual([{ server: 'down', seconds: 90 }])

    clock.advance(100_000)

    expect(tokenFreshness()).toEqual([{ server: 'down', seconds: -10 }])
  })
})

describe('ctx.mcp', () => {
  const run = async (
    code: (context: RunContext) => Promise<unknown>,
    over: Parameters<typeof createWorld>[0] = {},
    body: RunRequestBody = {},
  ) => {
    const meter = createInMemoryMeter()
    const { parts, calls } = createWorld(over)
    const mcpOf = createMcpService(parts)
    const engine = createEngine({
      agents: [agentOf('code', (_, context) => code(context))],
      services: (caller) => ({ mcp: mcpOf(caller) }),
      meter,
    })
    const { json = '' } = await engine.run('code', { body })
    const outcome = JSON.parse(json) as {
      status: string
      finishReason: string
      usage: object
      runId: string
      result?: unknown
      error?: { kind?: string; message: string }
    }
    return { ...outcome, steps: await engine.storage.steps.list(outcome.runId), calls, meter }
  }

  it('counts calls, and no lists, in the budget of the run and in the metric of tools', async () => {
    const code = async ({ mcp }: RunContext) => {
      await mcp.tools('files')
      await mcp.call('files', 'a')
      await mcp.call('nowhere', 'a')
      return mcp.call('files', 'a')
    }
    const { status, finishReason, usage, calls, meter } = await run(code, {}, { budget: { toolCalls: 2 } })

    expect({ status, finishReason, usage }).toMatchObject({
      ...{ status: 'failed', finishReason: 'budget-exhausted', usage: { toolCalls: 2 } },
    })
    expect(calls).toHaveLength(1)
    const counted = (tool: string, outcome: string) =>
      meter.values.get(`svc_tool_calls_total{tool="${tool}",outcome="${outcome}"}`)
    expect([counted('files.a', 'ok'), counted('nowhere.a', 'unknown_tool')]).toEqual([1, 1])
  })

  it('lists and calls tools, each as a recorded call', async () => {
    const { result, steps, calls } = await run(async ({ mcp }) => [
      (await mcp.tools('files')).length,
      await mcp.call('files', 'a', { x: 1 }, { timeoutMs: 5 }),
      await mcp.call('files', 'b'),
    ])

    expect(result).toEqual([2, { ok: true, value: { x: 1 } }, { ok: true, value: {} }])
    expect(steps.map(({ name, status }) => [name, status])).toEqual([
      ['mcp.tools', 'completed'],
      ['files.a', 'completed'],
      ['files.b', 'completed'],
    ])
    expect(calls[0]?.[1]).toMatchObject({ tool: 'a', timeoutMs: 5, signal: expect.any(AbortSignal) })
  })

  it('answers every failure as data, that of an unknown server too', async () => {
    const { result } = await run(
      async ({ mcp }) => [await mcp.call('unknown', 'a'), await mcp.call('files', 'a'), await mcp.call('down', 'a')],
      {
        call: async ({ id }) => {
          throw new AppError(id === 'down' ? 'mcp-server-unavailable' : 'mcp-tool-not-found', { message: id })
        },
      },
    )

    expect(result).toMatchObject([
      { ok: false, error: { kind: 'unknown_tool' } },
      { ok: false, error: { kind: 'unknown_tool', message: 'files' } },
      { ok: false, error: { kind: 'execution_failed', message: 'down' } },
    ])
  })

  it('refuses arguments that are no object, before it takes a place', async () => {
    const { error, steps } = await run(({ mcp }) => mcp.call('files', 'a', [1] as never))

    expect([error?.kind, steps]).toEqual(['validation-failed', []])
  })
})
