import { EVERY_ROW, type Storage } from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import fc from 'fast-check'
import { expect } from 'vitest'
import { awaitsResume } from '../runs/stored-suspension.ts'
import { commands, decideOne, emitEvent, restartUntilAlive, resumeOne } from './engine-commands.fixture.ts'
import type { World } from './engine-history.fixture.ts'
import { expectEnded, expectInvariants, expectNoneStuck } from './engine-invariants.fixture.ts'
import { EVENT_NAMES } from './engine-program.fixture.ts'
import { allRuns, createEnvironment, quiesce, startProcess, stepsOf } from './engine-world.fixture.ts'

const createWorld = async (storage: Storage): Promise<World> => {
  const environment = createEnvironment(storage)
  const maps = { starts: new Map(), runOfKey: new Map(), ended: new Map(), decided: new Map() }
  const sets = { resumed: new Set<string>(), aborted: new Set<string>(), refusals: new Set<string>() }
  const world = { environment, process: startProcess(environment), restarts: 0, ...maps, ...sets }
  const { engine } = world.process
  await engine.recover()
  await engine.start()
  return {
    ...world,
    crashes: new Map(),
    stepsDone: new Map(),
    emitted: new Map(),
    foundRunning: new Map(),
    bootedAt: [],
  }
}

const LONG_MS = 100_000

/** Advances the clock until no run executes and no record changes. */
async function waitLong(world: World): Promise<void> {
  const { environment } = world
  for (let before = '', round = 0; round < 40; round++) {
    environment.clock.advance(LONG_MS)
    await quiesce(environment)
    await restartUntilAlive(world)
    const runs = await allRuns(environment)
    const now = JSON.stringify([runs, await Promise.all(runs.map((run) => stepsOf(environment, run)))])
    if (now === before && !runs.some(({ status }) => status === 'running')) return
    before = now
  }
}

/** Emits events, grants approvals and resumes runs until all runs have ended. */
async function finishAll(world: World): Promise<void> {
  const { environment } = world
  const open = async () => (await allRuns(environment)).filter(({ status }) => !isTerminal(status))
  for (let round = 0; round < 60 && (await open()).length > 0; round++) {
    for (const name of EVENT_NAMES) emitEvent(world, { name })
    const { items } = await environment.storage.approvals.list(
      { status: 'pending' },
      { limit: 200, order: 'asc' },
      EVERY_ROW,
    )
    for (const { id } of items) decideOne(world, id, true)
    await quiesce(environment)
    await restartUntilAlive(world)
    for (const run of (await open()).filter(awaitsResume)) resumeOne(world, run.id)
    environment.clock.advance(LONG_MS)
    await quiesce(environment)
    await restartUntilAlive(world)
  }
  expect(await open(), 'runs that never end').toEqual([])
}

export interface ModelCheck {
  readonly open: () => Storage | Promise<Storage>
  readonly numRuns: number
  readonly seed?: number
}

/** Checks the invariants of the engine in `numRuns` random histories. A failure prints its seed. */
export async function checkEngine({ open, numRuns, seed }: ModelCheck): Promise<void> {
  const property = fc.asyncProperty(fc.commands(commands, { maxCommands: 25, size: 'max' }), async (script) => {
    const storage = await open()
    const world = await createWorld(storage)
    try {
      await fc.asyncModelRun(() => ({ model: {}, real: world }), script)
      await quiesce(world.environment)
      await restartUntilAlive(world)
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
