import { type EpochMs, type NodeIdentity, nodeDeclaration, nodeTarget, StartError } from '@perdure/ports'
import { aRun } from '@perdure/testkit'
import { expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { createTestSchema } from '../test-schema.fixture.ts'

const identity: NodeIdentity = {
  declares: [nodeDeclaration('webhook', 'sink', 'f1')],
  ...{ version: '1.2.3', peppers: ['new', 'old'], settings: { runs: 'a', auth: 'b' } },
  targets: [nodeTarget('agent', 'echo'), nodeTarget('agent', 'echo', 'v2')],
}

needsTool('PostgreSQL').describe('the directory of a cluster on a PostgreSQL server', () => {
  const schema = createTestSchema()
  const join = (over: Partial<NodeIdentity> = {}, onWarning = (_: string): void => undefined) =>
    schema.open({ keepRows: true, cluster: true, leaseMs: 2_000, identity: { ...identity, ...over }, onWarning })

  it('lists what the living members tell about themselves, and passes on a request to drain', async () => {
    await (await schema.open()).close()
    const [one, other] = [await join(), await join({ version: '1.2.4' })]
    const run = aRun({ id: 'r', status: 'running', executor: one.cluster?.executor, execution: 1 })
    await one.unitOfWork.commit([{ type: 'run.insert', run }])
    let drained = 0
    other.nodes?.onDrainRequested(() => drained++)

    const listed = await one.nodes?.list()
    expect(listed).toMatchObject([
      {
        id: one.cluster?.executor,
        version: '1.2.3',
        settings: identity.settings,
        declares: identity.declares,
        runs: 1,
      },
      { id: other.cluster?.executor, version: '1.2.4', isDraining: false, runs: 0 },
    ])
    expect(listed?.[0]?.duties).toContain('timers')
    expect(await one.nodes?.requestDrain('unknown')).toBe(false)
    expect(await one.nodes?.requestDrain(other.cluster?.executor ?? '')).toBe(true)
    await expect.poll(() => drained).toBe(1)
    expect((await one.nodes?.list())?.map(({ isDraining }) => isDraining)).toEqual([false, true])
    expect(one.nodes?.leaseMs()).toBeGreaterThan(0)
    await other.close()
    expect(await one.nodes?.list()).toHaveLength(1)
  })

  it('counts the queue of all members, and the runs of which none has the code', async () => {
    await (await schema.open()).close()
    const storage = await join()
    const createdAt = (Date.now() - 5_000) as EpochMs
    const queued = { status: 'queued', createdAt } as const
    for (const run of [
      aRun({ ...queued, id: 'a', targetId: 'echo' }),
      aRun({ ...queued, id: 'b', targetId: 'echo', version: 'v2' }),
      aRun({ ...queued, id: 'c', targetId: 'echo', version: 'v9' }),
      aRun({ ...queued, id: 'd', targetId: 'gone' }),
      aRun({ ...queued, id: 'e', targetId: 'echo', startAt: (Date.now() + 60_000) as EpochMs }),
    ])
      await storage.unitOfWork.commit([{ type: 'run.insert', run }])

    const load = await storage.nodes?.load()
    expect(load).toMatchObject({ queued: 4, withoutCode: 2 })
    expect(load?.oldestMs).toBeGreaterThanOrEqual(4_000)
  })

  it('refuses a member whose tokens another member would not accept, and names settings that differ', async () => {
    await (await schema.open()).close()
    const warnings: string[] = []
    await join()
    await (
      await join({ peppers: ['old', 'new'], settings: { runs: 'a', auth: 'x' } }, (text) => warnings.push(text))
    ).close()
    const kindOf = async (peppers: readonly string[]) => {
      const error = await join({ peppers }).catch((thrown: unknown) => thrown)
      return error instanceof StartError ? error.kind : 'no StartError'
    }

    expect(warnings).toEqual([expect.stringMatching(/^the configuration differs from that of the server .* in: auth$/)])
    expect(await kindOf(['other'])).toBe('node-mismatch')
    expect(await kindOf(['old'])).toBe('node-mismatch')
  })
})
