import { EVERY_ROW, type FireStatus, type Page, type PageQuery, type Storage } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createModel, type Model, type Script, scripts } from './trigger-model.fixture.ts'
import { ALICE, createTriggerServer } from './triggers.fixture.ts'

async function play(script: Script): Promise<void> {
  const { edge, beforeMs, catchUp, overlap, maxCatchUp, catchUpWindowMs } = script
  const clock = createManualClock(Date.parse(edge[1]) - beforeMs)
  let server = await createTriggerServer({ clock }).start()
  const { storage, ids } = server
  const policies = { catchUp, overlap, maxCatchUp, catchUpWindowMs }
  let model = createModel(script, clock.now())
  const create = async () => {
    const target = { agentId: 'held' }
    await server.create({ id: 'rule', ...model.rule.definition, target, ...policies } as never)
    await server.untilIdle()
  }
  await create()

  const restart = async (ms: number) => {
    await server.stop()
    clock.advance(ms)
    model.crash()
    server = await createTriggerServer({ clock, storage, ids }).start()
    model.decide(clock.now(), true)
  }

  for (const step of script.steps) {
    const { call, triggers } = server
    if (step.do === 'pass') {
      const until = clock.now() + step.ms
      await server.advance(step.ms)
      const { state, rule } = model
      if (state.isEnabled) for (const at of rule.occurrences(state.from, until)) model.decide(at, false)
      model.decide(until, false)
    } else if (step.do === 'down') await restart(step.ms)
    else if (step.do === 'restart') await restart(0)
    else if (step.do === 'step') {
      clock.setWall(clock.now() + step.ms)
      triggers.daemon.wake()
      await server.untilIdle()
      model.decide(clock.now(), Math.abs(step.ms) > 2_000)
    } else if (step.do === 'enable') {
      await triggers.manageTriggers.enable(call('rule'))
      await server.untilIdle()
      model.enable(clock.now())
    } else if (step.do === 'disable') {
      await triggers.manageTriggers.disable(call('rule'))
      await server.untilIdle()
      model.disable()
    } else if (step.do === 'fire') {
      await triggers.fireByHand(call('rule'))
      await server.untilIdle()
      model.fireByHand()
    } else if (step.do === 'finish') {
      await server.release()
      model.finish()
    } else {
      await triggers.manageTriggers.prune({ principal: ALICE })
      await server.untilIdle()
      expect((await storage.triggers.overview()).disabled).toBe(0)
      if (!model.state.isEnabled) {
        await expectMatchesModel(model, storage, true)
        const { manual } = model.state
        model = createModel(script, clock.now())
        model.state.manual = manual
        await server.release()
        await create()
        continue
      }
    }
    await expectMatchesModel(model, storage, false)
  }
  await server.stop()
}

/** The items of every page of a list. */
async function all<T>(list: (page: PageQuery) => Promise<Page<T>>): Promise<readonly T[]> {
  const items: T[] = []
  let cursor: string | undefined
  do {
    const page = await list({ limit: 200, order: 'asc', cursor })
    items.push(...page.items)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return items
}

/**
 * Compares the stored fires with the model: no fire is lost or repeated, and each has the status that its policy
 * requires.
 */
async function expectMatchesModel({ state }: Model, storage: Storage, isDeleted: boolean): Promise<void> {
  const fires = await all((page) => storage.fires.list({ triggerId: 'rule' }, page))
  const scheduled = fires.filter(({ cause }) => cause === 'schedule')
  const stored = new Map(scheduled.map(({ scheduledAt, status }) => [scheduledAt as number, status]))
  if (isDeleted) return expect(fires).toEqual([])
  expect(stored.size).toBe(scheduled.length)
  const inOrder = (map: ReadonlyMap<number, FireStatus>) =>
    [...map].sort(([one], [other]) => one - other).map(([at, status]) => `${new Date(at).toISOString()} ${status}`)
  expect(inOrder(stored)).toEqual(inOrder(state.fires))
  expect((await storage.triggers.find('rule'))?.missed).toBe(state.missed)

  const runs = await all((page) => storage.runs.list({}, page, EVERY_ROW))
  const withRun = fires.filter(({ runId }) => runId !== undefined)
  expect(new Set(withRun.map(({ runId }) => runId)).size).toBe(withRun.length)
  for (const { runId } of withRun) expect(runs.filter(({ id }) => id === runId)).toHaveLength(1)
}

describe('createTriggerDaemon compared with a model that scans every minute', () => {
  it.each([1, 2, 3, 4])(
    'decides every occurrence once and by its policy, despite clock changes, restarts and random calls (%i of 4)',
    { timeout: 300_000 },
    async (part) => {
      const { PERDURE_MODEL_RUNS: runs, PERDURE_MODEL_SEED: seed = part } = process.env
      const numRuns = Number(runs ?? 2_000) / 4
      await fc.assert(fc.asyncProperty(scripts, play), {
        numRuns,
        seed: Number(seed),
        endOnFailure: runs !== undefined,
      })
    },
  )
})
