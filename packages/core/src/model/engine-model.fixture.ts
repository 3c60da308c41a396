import { isTerminal } from '@perdure/protocol'
import { EVERY_ROW, type Storage } from '@perdure/ports'
import fc from 'fast-check'
import { expect } from 'vitest'
import { awaitsResume } from '../runs/stored-suspension.ts'
import { commands, decideOne, emitEvent, resumeOne, revive } from './engine-commands.fixture.ts'
import type { World } from './engine-history.fixture.ts'
import { expectEnded, expectInvariants, expectNoneStuck } from './engine-invariants.fixture.ts'
import { EVENT_NAMES } from './engine-program.fixture.ts'
import { allRuns, quiesce, startProcess, stepsOf, surroundings } from './engine-world.fixture.ts'

const createWorld = async (storage: Storage): Promise<World> => {
  const around = surroundings(storage)
  const maps = { starts: new Map(), runOfKey: new Map(), ended: new Map(), decided: new Map() }
  const sets = { resumed: new Set<string>(), aborted: new Set<string>(), refusals: new Set<string>() }
  const world = { around, process: startProcess(around), restarts: 0, ...maps, ...sets }
  const { engine } = world.process
  await engine.recover()
  await engine.start()
  return {
    ...world,
    deaths: new Map(),
    stepsDone: new Map(),
    emitted: new Map(),
    foundRunning: new Map(),
    bootedAt: [],
  }
}

const FAR_MS = 100_000

/** Lets all the time pass that anything waits for: until nothing executes and nothing changes any more. */
async function waitLong(world: World): Promise<void> {
  const { around } = world
  for (let before = '', round = 0; round < 40; round++) {
    around.clock.advance(FAR_MS)
    await quiesce(around)
    await revive(world)
    const runs = await allRuns(around)
    const now = JSON.stringify([runs, await Promise.all(runs.map((run) => stepsOf(around, run)))])
    if (now === before && !runs.some(({ status }) => status === 'running')) return
    before = now
  }
}

/** Gives every run what it waits for, until all have ended. */
async function finishAll(world: World): Promise<void> {
  const { around } = world
  const open = async () => (await allRuns(around)).filter(({ status }) => !isTerminal(status))
  for (let round = 0; round < 60 && (await open()).length > 0; round++) {
    for (const name of EVENT_NAMES) emitEvent(world, { name })
    const { items } = await around.storage.approvals.list(
      { status: 'pending' },
      { limit: 200, order: 'asc' },
      EVERY_ROW,
    )
    for (const { id } of items) decideOne(world, id, true)
    await quiesce(around)
    await revive(world)
    for (const run of (await open()).filter(awaitsResume)) resumeOne(world, run.id)
    around.clock.advance(FAR_MS)
    await quiesce(around)
    await revive(world)
  }
  expect(await open(), 'runs that never end').toEqual([])
}

export interface ModelCheck {
  readonly open: () => Storage | Promise<Storage>
  readonly numRuns: number
  readonly seed?: number
}

/** Holds the engine against its model in `numRuns` generated histories. The seed of a failing one is printed. */
export async function checkEngine({ open, numRuns, seed }: ModelCheck): Promise<void> {
  const property = fc.asyncProperty(fc.commands(commands, { maxCommands: 25, size: 'max' }), async (script) => {
    const storage = await open()
    const world = await createWorld(storage)
    try {
      await fc.asyncModelRun(() => ({ model: {}, real: world }), script)
      await quiesce(world.around)
      await revive(world)
      await expectInvariants(world, true)
      await waitLong(world)
      await expectInvariants(world, true)
      await expectNoneStuck(world)
      await finishAll(world)
      await expectInvariants(world, true)
      await expectEnded(world)
    } finally {
      world.process.kill()
      await storage.close()
    }
  })
  await fc.assert(property, { numRuns, ...(seed === undefined ? {} : { seed }) })
}
