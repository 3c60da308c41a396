import type { Principal } from '@perdure/core'
import { perdureError } from '@perdure/ports'
import { aRun } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { ANYONE, connected, createWorld } from './connections.fixture.ts'

describe('run.cancel', () => {
  it("aborts only runs that the caller's scopes cover, and returns the status of the run", async () => {
    const asked: unknown[] = []
    const world = createWorld({
      async abortRun(given) {
        asked.push(given)
        if (given.runId !== 'run_a') throw perdureError('run-not-active')
        return { status: 200 }
      },
    })
    const runs = [aRun({ id: 'run_a', status: 'aborted' }), aRun({ id: 'run_b', status: 'completed' })]
    await world.unitOfWork.commit(runs.map((run) => ({ type: 'run.insert', run }) as const))
    const principal: Principal = { subject: 'alice', scopes: ['agents:invoke:echo'] }
    const { call } = await connected(world, principal)
    const reader = await connected(world, { subject: 'alice', scopes: ['agents:read'] })

    expect((await call('run.cancel', { runId: 'run_a', reason: 'no' })).result).toEqual({
      runId: 'run_a',
      status: 'aborted',
    })
    expect(asked).toEqual([{ runId: 'run_a', reason: 'no', principal, visibility: { owner: 'alice' } }])
    expect((await call('run.cancel', { runId: 'run_b' })).result).toEqual({ runId: 'run_b', status: 'completed' })
    expect((await reader.call('run.cancel', { runId: 'run_a' })).error?.code).toBe(-32003)
  })

  it('is audited like an abort over HTTP, whether it succeeds or is refused; other methods are not', async () => {
    const recorded: unknown[] = []
    const world = createWorld({
      abortRun: async () => ({ status: 200 }),
      audit: { onAnswer: async (request) => void recorded.push(request) },
    })
    await world.unitOfWork.commit([{ type: 'run.insert', run: aRun({ id: 'run_a', status: 'aborted' }) }])
    const reader: Principal = { subject: 'bob', scopes: ['agents:read'] }
    const { call } = await connected(world)
    await call('ping')
    await call('run.cancel', { runId: 'run_a' })
    await call('run.cancel', { runId: 'run_none' })
    await (await connected(world, reader)).call('run.cancel', { runId: 'run_a' })

    const common = {
      ...{ operationId: 'runs.abort', isPrivileged: false, method: 'run.cancel', route: '/v1/ws', isReplayed: false },
      ...{ requestId: 'req-1', clientAddress: '192.0.2.1' },
    }
    expect(recorded).toMatchObject([
      { ...common, target: 'run_a', principal: ANYONE, status: 200, error: undefined },
      { ...common, target: 'run_none', principal: ANYONE, status: 404, error: 'run-not-found' },
      { ...common, target: 'run_a', principal: reader, status: 403, error: 'scope-denied' },
    ])
  })

  it('does nothing if it cannot be audited', async () => {
    const asked: unknown[] = []
    const { call } = await connected(
      createWorld({
        abortRun: async (given) => {
          asked.push(given)
          return { status: 200 }
        },
        audit: { admit: () => Promise.reject(perdureError('audit-unavailable')) },
      }),
    )

    expect((await call('run.cancel', { runId: 'run_a' })).error?.code).toBe(-32603)
    expect(asked).toEqual([])
  })

  it('is rejected for a run that does not exist', async () => {
    const { call } = await connected(createWorld())

    expect((await call('run.cancel', { runId: 'run_none' })).error?.code).toBe(-32010)
  })
})
