import { createInMemoryStorage, shareInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import type { RunContext } from '../targets/run-context.ts'
import {
  answersOf,
  boot,
  callerOf,
  codeOf,
  isWaiting,
  KEY,
  onlyApproval,
  settle,
  twice,
} from './await-children.fixture.ts'
import { createTestEngine, gate, outcomeOf } from './test-engine.fixture.ts'

describe('a repeated request after its server was killed', () => {
  const shared = () => ({ storage: createInMemoryStorage(), clock: createManualClock(), ids: createSequenceIds() })

  it('is in flight while the child works, and then gets the result of the run', async () => {
    const [before, after] = [gate<string>(), gate<string>()]
    const world = shared()
    const agentsOf = (open: Promise<string>) => [codeOf('slow', () => open), callerOf('top', 'slow')]
    const killed = await boot(agentsOf(before.promise), world)
    void killed.run('top', { key: KEY, body: {} })
    await settle(killed)

    const next = await boot(
      agentsOf(after.promise).map((agent) => ({ ...agent, onCrash: 'retry' as const })),
      world,
    )
    await expect(next.recall(KEY)).rejects.toMatchObject({ code: 'idempotency-in-flight' })
    await expect(next.run('top', { key: KEY })).rejects.toMatchObject({ code: 'idempotency-in-flight' })
    after.resolve('done')
    await settle(next)

    expect(outcomeOf(await next.run('top', { key: KEY }))).toMatchObject({ status: 'completed', result: 'done' })
  })

  it('gets the suspension of a run whose child has asked a person, and the same again later', async () => {
    const world = shared()
    const open = gate()
    const agentsOf = (before: () => Promise<void>) => [
      codeOf('asks', async ({ approval }) => [await before(), await approval('deploy')][1]),
      callerOf('top', 'asks'),
    ]
    const killed = await boot(
      agentsOf(() => open.promise),
      world,
    )
    void killed.run('top', { key: KEY })
    await settle(killed)

    const next = await boot(
      agentsOf(async () => undefined),
      world,
    )
    const repeated = await next.run('top', { key: KEY })
    expect(outcomeOf(repeated)).toMatchObject({ status: 'suspended', waitingFor: [{ kind: 'child', name: 'asks' }] })

    const approvalId = await onlyApproval(next)
    await next.resolveApproval({ approvalId, approved: true, by: 'alice', visibility: EVERY_ROW })
    await settle(next)

    expect((await next.run('top', { key: KEY })).json).toBe(repeated.json)
  })
})

describe('a caller in another process than the child', () => {
  /**
   * Two processes that follow each other's commits. `mine` starts the runs; `other` fires the timers, so it executes the
   * next attempt of a child that failed. The clock moves by less than the time between two looks at the storage.
   */
  const retried = async (run: (context: RunContext) => unknown) => {
    const shared = { clock: createManualClock(), ids: createSequenceIds() }
    const join = shareInMemoryStorage(createInMemoryStorage())
    const open = (executor: string, code: (context: RunContext) => unknown) =>
      createTestEngine({
        ...{ ...shared, executor, storage: join(), isStorageShared: true, isMine: () => executor === 'other' },
        agents: [
          codeOf('child', code, { retries: { max: 1, delay: 1_000, jitter: 'none' } }),
          callerOf('middle', 'child'),
          callerOf('top', 'middle'),
        ],
      })
    const fail = () => {
      throw new Error('not here')
    }
    const [mine, other] = [open('mine', fail), open('other', run)]
    for (const engine of [mine, other]) await engine.start()
    const reply = mine.run('top', { key: KEY })
    await settle(mine, other)
    expect(await isWaiting(reply)).toBe(true)
    await other.advance(1_000)
    await settle(mine, other)
    return { mine, other, reply }
  }

  it('is answered when the child asks a person there', async () => {
    const { mine, other, reply } = await retried(({ approval }) => approval('deploy'))

    expect(await answersOf(mine, reply)).toEqual(twice(200, 'suspended'))
    expect((await other.run('top', { key: KEY })).json).toBe((await reply).json)
  })

  it('gets the result when the child ends there', async () => {
    const { mine, reply } = await retried(() => 'done')

    expect(outcomeOf(await reply)).toMatchObject({ status: 'completed', result: 'done' })
    expect(await answersOf(mine, reply)).toEqual(twice(200, 'completed'))
  })
})
