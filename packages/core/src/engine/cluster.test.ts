import { createInMemoryCluster, createInMemoryStorage, type InMemoryMember } from '@perdure/in-memory'
import { type Cluster, EVERY_ROW, storageBusy } from '@perdure/ports'
import { aRun, createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import {
  agentOf,
  createTestEngine,
  type EngineOptions,
  gate,
  outcomeOf,
  untilIdle,
  workflowOf,
} from './test-engine.fixture.ts'

type Engine = ReturnType<typeof createTestEngine>

/** Engines on one storage, whose members beat twice a second until they crash. */
function createProcesses() {
  const storage = createInMemoryStorage()
  const clock = createManualClock()
  const ids = createSequenceIds()
  const { join } = createInMemoryCluster({ storage, clock })
  const members = new Set<InMemoryMember>()

  return {
    ...{ storage, clock },
    async start(
      options: EngineOptions,
      change: (cluster: Cluster) => Partial<Cluster> = () => ({}),
    ): Promise<{ readonly engine: Engine; crash(): void; readonly name: string }> {
      const member = join()
      members.add(member)
      member.beat()
      const { storage: own } = member
      const cluster = { ...member.cluster, ...change(member.cluster) }
      const shared = { clock, ids, isStorageShared: true, storage: own, cluster }
      const engine = createTestEngine({ ...shared, ...options })
      await engine.recover()
      await engine.start()
      return { engine, name: cluster.executor, crash: () => void members.delete(member) }
    },
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += 500) {
        clock.advance(500)
        for (const member of members) member.beat()
        await untilIdle(clock)
      }
    },
    find: (runId = '') => storage.runs.find(runId, EVERY_ROW),
  }
}

const accepted = { answer: 'accepted' } as const

describe('engines in a cluster', () => {
  it('recover the runs of a crashed process once, when its lease is over', async () => {
    const { start, pass, find } = createProcesses()
    const open = gate()
    const attempts: number[] = []
    const flow = workflowOf('held', async (_, { attempt }) => {
      attempts.push(attempt)
      await open.promise
      return attempt
    })
    const agents = [agentOf('once', () => open.promise)]
    const first = await start({ workflows: [flow], agents })
    await start({ workflows: [flow], agents })
    await start({ workflows: [flow], agents })
    const held = outcomeOf(await first.engine.execute('held')).runId
    const once = outcomeOf(await first.engine.run('once', accepted)).runId
    await pass(500)
    expect(await find(held)).toMatchObject({ status: 'running', executor: first.name, attempt: 1 })

    first.crash()
    await pass(5_000)
    expect(attempts).toEqual([1])
    await pass(5_000)

    expect(attempts).toEqual([1, 2])
    expect(await find(held)).toMatchObject({ status: 'running', attempt: 2, execution: 2 })
    expect(await find(once)).toMatchObject({ status: 'failed', finishReason: 'interrupted' })
    open.resolve()
    await pass(1_000)
    expect(await find(held)).toMatchObject({ status: 'completed', result: '2', attempt: 2 })
  })

  it('leave the runs of a crashed process to those that have their code, and fail them a minute later', async () => {
    const { start, pass, find } = createProcesses()
    const open = gate()
    const flow = workflowOf('held', () => open.promise, { version: '2' })
    const holder = await start({ workflows: [] })
    const crashed = await start({ workflows: [flow] })
    const runIds = [outcomeOf(await crashed.engine.execute('held')).runId]
    await pass(500)
    crashed.crash()
    await pass(20_000)
    expect(await find(runIds[0])).toMatchObject({ status: 'running', attempt: 1 })

    await start({ workflows: [flow] })
    await pass(2_000)
    expect(await find(runIds[0])).toMatchObject({ status: 'running', attempt: 2 })
    expect(holder.engine.readLoad().executing.workflow).toBe(0)
  })

  it('fail the runs of a crashed process whose code none of them has, a minute later', async () => {
    const { start, pass, find } = createProcesses()
    await start({})
    const crashed = await start({ workflows: [workflowOf('held', () => gate().promise)] })
    const { runId } = outcomeOf(await crashed.engine.execute('held'))
    await pass(500)
    crashed.crash()
    await pass(60_000)
    expect(await find(runId)).toMatchObject({ status: 'running' })
    await pass(10_000)
    expect(await find(runId)).toMatchObject({ status: 'failed', finishReason: 'interrupted' })
  })

  it('combine the first requests of a debounce key that two of them receive at the same moment', async () => {
    const { start, pass, find } = createProcesses()
    const started: unknown[] = []
    const debounce = { period: 1_000, key: () => 'doc' }
    const agents = [agentOf('work', async (input) => void started.push(input), { debounce })]
    const [one, other] = [await start({ agents }), await start({ agents })]
    const send = (engine: Engine, input: string) => engine.run('work', { ...accepted, body: { input } })
    const runIdsOf = async (...inputs: readonly string[]) =>
      (await Promise.all([send(one.engine, `${inputs[0]}`), send(other.engine, `${inputs[1]}`)])).map(
        (reply) => outcomeOf(reply).runId,
      )
    const runIds = await runIdsOf('a', 'b')
    expect(new Set(runIds).size).toBe(1)
    await pass(2_000)
    expect([started.length, (await find(runIds[0]))?.status]).toEqual([1, 'completed'])

    const aborted = await runIdsOf('c', 'd')
    await one.engine.abortRun({ runId: aborted[0] ?? '', visibility: EVERY_ROW })
    const again = await runIdsOf('e', 'f')
    expect(again).not.toContain(aborted[0])
    await pass(2_000)
    expect((await find(again[0]))?.status).toBe('completed')
  })

  it('start a queued run on any of them that has a free slot and its version', async () => {
    const { start, pass, find } = createProcesses()
    const open = gate()
    const flows = (version: string) => [workflowOf('held', () => open.promise, { version })]
    const busy = await start({ workflows: flows('1'), concurrency: 1 })
    const runIds: string[] = []
    for (let n = 0; n < 3; n++) runIds.push(outcomeOf(await busy.engine.execute('held')).runId)
    await pass(2_000)
    const statuses = async () => Promise.all(runIds.map(async (id) => (await find(id))?.status))
    expect(await statuses()).toEqual(['running', 'queued', 'queued'])

    await start({ workflows: flows('2') })
    await pass(2_000)
    expect(await statuses()).toEqual(['running', 'queued', 'queued'])

    const other = await start({ workflows: flows('1'), concurrency: 1 })
    await pass(2_000)
    expect(await statuses()).toEqual(['running', 'running', 'queued'])
    expect(await find(runIds[1])).toMatchObject({ executor: other.name })
    open.resolve()
    await pass(2_000)
    expect(await statuses()).toEqual(['completed', 'completed', 'completed'])
  })

  it('start the runs of a claim whose answer was lost', async () => {
    const { start, pass, find } = createProcesses()
    const open = gate()
    const flow = workflowOf('held', () => open.promise)
    const busy = await start({ workflows: [flow], concurrency: 1 })
    const runIds: string[] = []
    for (let n = 0; n < 3; n++) runIds.push(outcomeOf(await busy.engine.execute('held')).runId)
    let lost = 0
    const loseFirst = (cluster: Cluster): Partial<Cluster> => ({
      async claim(query) {
        const runs = await cluster.claim(query)
        if (lost > 0 || runs.length === 0) return runs
        lost = runs.length
        throw storageBusy()
      },
    })
    await start({ workflows: [flow], concurrency: 2 }, loseFirst)
    await pass(5_000)

    expect(lost).toBe(2)
    expect(await Promise.all(runIds.map(async (id) => (await find(id))?.status))).toEqual(Array(3).fill('running'))
    open.resolve()
    await pass(1_000)
  })

  it('execute the runs of a lane in the order of their acceptance, one at a time', async () => {
    const { start, pass, find, clock } = createProcesses()
    const order: string[] = []
    let executing = 0
    let most = 0
    const agents = [
      agentOf(
        'serial',
        async (_, { runId }) => {
          executing++
          most = Math.max(most, executing)
          order.push(runId)
          await new Promise<void>((resolve) => setImmediate(resolve))
          executing--
        },
        { concurrency: 'single', onBusy: 'queue' },
      ),
    ]
    const processes = [await start({ agents }), await start({ agents }), await start({ agents })]
    const runIds: string[] = []
    for (let n = 0; n < 12; n++) {
      const { engine } = processes[n % 3] as (typeof processes)[number]
      runIds.push(outcomeOf(await engine.run('serial', accepted)).runId)
      clock.advance(1)
      if (n % 4 === 3) await pass(500)
    }
    await pass(30_000)

    expect(order).toEqual(runIds)
    expect(most).toBe(1)
    expect((await find(runIds.at(-1)))?.status).toBe('completed')
  })

  it('use every slot of a lane, whichever of them holds the others', async () => {
    const { start, pass, find } = createProcesses()
    const open = gate()
    const agents = [agentOf('three', () => open.promise, { concurrency: { limit: 3 }, onBusy: 'queue' })]
    const [one, other] = [await start({ agents }), await start({ agents })]
    const runIds: string[] = []
    for (const { engine } of [one, one, other, other]) {
      runIds.push(outcomeOf(await engine.run('three', accepted)).runId)
    }
    await pass(5_000)

    const statuses = await Promise.all(runIds.map(async (id) => (await find(id))?.status))
    expect(statuses).toEqual(['running', 'running', 'running', 'queued'])
    open.resolve()
    await pass(5_000)
    expect(await find(runIds[3])).toMatchObject({ status: 'completed' })
  })

  it('refuse, or interrupt, a run because of a run of another process in its lane', async () => {
    const { start, pass, find } = createProcesses()
    const agents = [
      agentOf('strict', () => gate().promise, { concurrency: 'single' }),
      agentOf('latest', () => gate().promise, { concurrency: 'single', onBusy: 'interrupt' }),
    ]
    const [one, other] = [await start({ agents }), await start({ agents })]
    await one.engine.run('strict', accepted)
    await expect(other.engine.run('strict', accepted)).rejects.toMatchObject({ code: 'agent-busy' })

    const older = outcomeOf(await one.engine.run('latest', accepted)).runId
    const newer = outcomeOf(await other.engine.run('latest', accepted)).runId
    await pass(10_000)
    expect(await find(older)).toMatchObject({ status: 'aborted' })
    expect(await find(newer)).toMatchObject({ status: 'running', executor: other.name })
  })

  it('hand queued and executing runs over when a process drains', async () => {
    const { start, pass, find } = createProcesses()
    const open = gate()
    const workflows = [workflowOf('held', () => open.promise)]
    const [one, other] = [await start({ workflows, concurrency: 1 }), await start({ workflows, concurrency: 2 })]
    const runIds = [
      outcomeOf(await one.engine.execute('held')).runId,
      outcomeOf(await one.engine.execute('held')).runId,
    ]
    const draining = one.engine.drain(0)
    await pass(500)
    await draining
    await one.engine.release()
    await pass(1_000)

    for (const id of runIds) expect(await find(id)).toMatchObject({ status: 'running', executor: other.name })
    open.resolve()
    await pass(1_000)
    for (const id of runIds) expect(await find(id)).toMatchObject({ status: 'completed' })
  })

  it('recover, at a start, the runs of a server that had the storage for itself', async () => {
    const { start, pass, find, storage } = createProcesses()
    const workflows = [workflowOf('held', async () => 'done')]
    const run = aRun({ id: 'left', kind: 'workflow', targetId: 'held', threadId: 't', status: 'running', execution: 1 })
    await storage.unitOfWork.commit([{ type: 'run.insert', run }])
    await start({ workflows })
    await pass(1_000)
    expect(await find('left')).toMatchObject({ status: 'completed', attempt: 2 })
  })
})
