import { createInMemoryCluster, createInMemoryStorage } from '@perdure/in-memory'
import type { EpochMs } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import {
  agentOf,
  createTestEngine,
  type EngineOptions,
  outcomeOf,
  untilIdle,
  workflowOf,
} from './test-engine.fixture.ts'

type ManualClock = ReturnType<typeof createManualClock>

/** The clock of another machine: it reads another time and runs at the same speed. */
const shifted = (clock: ManualClock, byMs: number): ManualClock => ({
  ...clock,
  now: () => (clock.now() + byMs) as EpochMs,
})

type Code = Pick<EngineOptions, 'agents' | 'workflows'>

/** Two engines on one storage; the clock of the second one is `byMs` ahead. */
async function startPair(codeOf: (process: string) => Code, byMs = 0) {
  const storage = createInMemoryStorage()
  const clock = createManualClock()
  const ids = createSequenceIds()
  const { join } = createInMemoryCluster({ storage, clock })
  const members = [join(), join()]
  const beat = () => {
    for (const member of members) member.beat()
  }
  beat()
  const engines = members.map(({ cluster, storage: own }, index) =>
    createTestEngine({
      ...codeOf(['one', 'other'][index] ?? ''),
      ...{ ids, isStorageShared: true, storage: own, cluster },
      clock: index === 0 ? clock : shifted(clock, byMs),
    }),
  )
  for (const engine of engines) {
    await engine.recover()
    await engine.start()
  }
  const [one, other] = engines as [ReturnType<typeof createTestEngine>, ReturnType<typeof createTestEngine>]
  return {
    ...{
      one,
      other,
      names: members.map(({ cluster }) => cluster.executor),
      skew: (ms: number) => members[1]?.setClockSkew(ms),
    },
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += 500) {
        clock.advance(500)
        beat()
        await untilIdle(clock)
      }
    },
  }
}

const accepted = { answer: 'accepted' } as const

describe('a rate limit in a cluster', () => {
  it.each([-1_900, -1, 0, 1_900])('holds for starts on servers whose clocks differ by %i ms', async (byMs) => {
    const started: unknown[] = []
    const work = agentOf('work', async (input) => void started.push(input), {
      ...{ onBusy: 'queue', rateLimit: { limit: 3, period: '1m' } },
    })
    const { one, other, pass } = await startPair(() => ({ agents: [work] }), byMs)

    for (let number = 0; number < 4; number++) {
      await Promise.all([one, other].map((engine) => engine.run('work', { body: { input: number }, ...accepted })))
      await untilIdle()
    }
    await pass(40_000)
    expect(started).toHaveLength(3)

    await pass(40_000)
    expect(started).toHaveLength(6)
  })
})

describe('a debounce key in a cluster', () => {
  it('combines first requests that name different start times', async () => {
    const debounce = { period: 1_000, key: (input: unknown) => `${input}` }
    const { one, other } = await startPair(() => ({ agents: [agentOf('work', async () => 'done', { debounce })] }))

    const delays = [0, 1, 5_000, 31_000, 3_600_000]
    for (const [key, [first, second]] of delays.flatMap((at) => delays.map((then) => [at, then])).entries()) {
      const replies = await Promise.all([
        one.run('work', { ...accepted, body: { input: key, delayMs: first ?? 0 } }),
        other.run('work', { ...accepted, body: { input: key, delayMs: second ?? 0 } }),
      ])
      expect(new Set(replies.map((reply) => outcomeOf(reply).runId)).size, `delays ${first} and ${second}`).toBe(1)
    }
  })
})

describe('a process whose clock is wrong', () => {
  it('starts none of its queued runs and no new run until its clock is right, and other processes do', async () => {
    const started: string[] = []
    const work = agentOf('work', async (_, { runId }) => void started.push(runId))
    const held = agentOf('rated', async (_, { runId }) => void started.push(runId), {
      ...{ onBusy: 'queue', rateLimit: { limit: 1, period: '5s' } },
    })
    const { one, other, skew, pass } = await startPair(() => ({ agents: [work, held] }))
    await one.drain(0)
    const startRated = async () => outcomeOf(await other.run('rated', accepted)).runId
    const rated = [await startRated(), await startRated()]
    await pass(500)
    expect(started).toEqual(rated.slice(0, 1))

    skew(10_000)
    const direct = outcomeOf(await other.run('work', accepted))
    await pass(20_000)
    expect(direct.status).toBe('queued')
    expect(started).toEqual(rated.slice(0, 1))

    skew(0)
    await pass(2_000)
    expect(started.toSorted()).toEqual([...rated, direct.runId].toSorted())
  })

  it('leaves the runs that it accepts, resumes or retries to the other processes', async () => {
    const executed: string[] = []
    const { one, other, skew, pass } = await startPair((process) => ({
      agents: [agentOf('work', async () => void executed.push(`work on ${process}`))],
      workflows: [
        workflowOf('flow', async (_, { waitForEvent, sleep }) => {
          executed.push(`flow on ${process}`)
          await waitForEvent('go')
          await sleep('nap', 1_000)
        }),
      ],
    }))
    const waiting = outcomeOf(await other.execute('flow')).runId
    await pass(500)

    skew(-10_000)
    const accepting = outcomeOf(await other.run('work', accepted)).runId
    await pass(1_000)
    await other.emitEvent({ name: 'go' })
    await pass(5_000)

    expect(executed).toEqual(['flow on other', 'work on one', 'flow on one', 'flow on one'])
    for (const runId of [waiting, accepting]) expect((await one.find(runId))?.status).toBe('completed')
  })
})
