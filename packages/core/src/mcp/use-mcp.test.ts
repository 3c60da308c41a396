import { type McpOutcome, storageBusy } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { createMcpWorld, KEY, PAGE, refusal } from './mcp.fixture.ts'
import { createMcp } from './mcp.ts'
import { interruptCalls } from './use-mcp.ts'

describe('useMcp', () => {
  const call = { serverId: 'files', tool: 'a', arguments: { x: 1 } }

  it('lists and calls tools, and names an unknown server or tool', async () => {
    const { useMcp } = createMcpWorld()

    expect((await useMcp.tools('files', PAGE)).items.map(({ name }) => name)).toEqual(['a', 'b'])
    expect(await useMcp.call(call)).toEqual({ status: 200, body: { ok: true, value: { x: 1 } } })
    expect(await refusal(useMcp.tools('unknown', PAGE))).toBe('mcp-server-not-found')
    expect(await refusal(useMcp.call({ ...call, tool: 'c' }))).toBe('mcp-tool-not-found')
    expect(await refusal(useMcp.call({ ...call, serverId: 'down' }))).toBe('mcp-server-unavailable')
  })

  it('rejects new calls while the server drains', async () => {
    const { useMcp, phase } = createMcpWorld()
    phase.enter('draining')

    expect(await refusal(useMcp.call(call))).toBe('server-draining')
  })

  it('calls a tool once per key, even if the call fails', async () => {
    const failed: McpOutcome = { ok: false, error: { kind: 'timeout', message: 'late' } }
    const { useMcp, calls, recall } = createMcpWorld({ call: async () => failed })

    const first = await useMcp.call({ ...call, key: KEY })

    expect(first).toEqual({ status: 200, body: failed })
    expect(JSON.parse((await recall(KEY))?.json ?? '')).toEqual(failed)
    expect(await useMcp.call({ ...call, key: KEY })).toMatchObject({ status: 200, replayed: true })
    expect(calls).toHaveLength(1)
  })

  it('stores the answer even if the storage is busy when the call returns', async () => {
    const { parts, storage, clock, phase, ids, calls, recall } = createMcpWorld()
    let refusals = 2
    const commit: typeof storage.unitOfWork.commit = (writes) =>
      writes.some(({ type }) => type === 'idempotency.complete') && refusals-- > 0
        ? Promise.reject(storageBusy())
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

  it('stores an answer for a call that fails in the MCP client', async () => {
    const { useMcp, recall } = createMcpWorld({ call: () => Promise.reject(new TypeError('secret detail')) })

    const reply = await useMcp.call({ ...call, key: KEY })

    expect(reply).toMatchObject({ status: 200, body: { ok: false, error: { kind: 'execution_failed' } } })
    expect(JSON.stringify([reply, await recall(KEY)])).not.toContain('secret detail')
  })

  it('stores nothing for a rejected call', async () => {
    const { useMcp, recall } = createMcpWorld()
    await refusal(useMcp.call({ ...call, tool: 'c', key: KEY }))
    await refusal(useMcp.call({ ...call, serverId: 'down', key: KEY }))

    expect(await recall(KEY)).toBeUndefined()
  })

  it('rejects a repeated request while the call is in progress, and answers the request after a crash', async () => {
    const { useMcp, recall, storage, calls } = createMcpWorld({ call: () => new Promise(() => undefined) })
    void useMcp.call({ ...call, key: KEY })
    await expect.poll(() => calls.length).toBe(1)

    expect(await refusal(useMcp.call({ ...call, key: KEY }))).toBe('idempotency-in-flight')
    await storage.unitOfWork.commit([interruptCalls()])

    const reply = await recall(KEY)
    expect(reply).toMatchObject({ status: 200, replayed: true })
    expect(JSON.parse(reply?.json ?? '')).toMatchObject({ ok: false, error: { kind: 'execution_failed' } })
    expect(calls).toHaveLength(1)
  })

  it('reports the remaining lifetime of configured tokens, which is negative after they expire', () => {
    const { tokenFreshness, clock } = createMcpWorld()
    expect(tokenFreshness()).toEqual([{ server: 'down', seconds: 90 }])

    clock.advance(100_000)

    expect(tokenFreshness()).toEqual([{ server: 'down', seconds: -10 }])
  })
})
