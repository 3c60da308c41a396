import { EVERY_ROW, type Storage } from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import fc from 'fast-check'
import { expect } from 'vitest'
import { awaitsResume } from '../runs/stored-suspension.ts'
import { ALL_VERSIONS, type Code, EVERY_CODE } from './engine-code.fixture.ts'
import { restartUntilAlive } from './engine-command.fixture.ts'
import { commands } from './engine-commands.fixture.ts'
import { addCoverage, type Coverage, expectCoverage, showCoverage } from './engine-coverage.fixture.ts'
import type { World } from './engine-history.fixture.ts'
import { expectEnded, expectInvariants, expectNoneStuck } from './engine-invariants.fixture.ts'
import { isParked } from './engine-parking.fixture.ts'
import { EVENT_NAMES } from './engine-program.fixture.ts'
import { deployOne } from './engine-repairs.fixture.ts'
import { decideOne, emitEvent, resumeOne } from './engine-requests.fixture.ts'
import type { CommitKind } from './engine-witness.fixture.ts'
import { allRuns, createEnvironment, type Environment, quiesce, startProcess, stepsOf } from './engine-world.fixture.ts'

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
    ...{ forkOfKey: new Map(), forkedAt: new Map(), logs: new Map(), wasDown: false, seen: new Set() },
  }
}

const LONG_MS = 100_000

/** One advance ends one sleep or try of each executing run; in a long queue, runs execute one after another. */
const MOST_ROUNDS = 1_000

/** Advances the clock until no run executes and no record changes. */
async function waitLong(world: World): Promise<void> {
  const { environment } = world
  for (let before = '', round = 0; round < MOST_ROUNDS; round++) {
    environment.clock.advance(LONG_MS)
    await quiesce(environment)
    await restartUntilAlive(world)
    const runs = await allRuns(environment)
    const now = JSON.stringify([runs, await Promise.all(runs.map((run) => stepsOf(environment, run)))])
    if (now === before && !runs.some(({ status }) => status === 'running')) return
    before = now
  }
}

/** Deploys the code that parked runs wait for, emits events, approves what they ask and resumes runs until all have ended. */
async function finishAll(world: World): Promise<void> {
  const { environment } = world
  environment.isDown = false
  const codes: Code[] = [...environment.deployments.toReversed(), ...EVERY_CODE]
  const deployNext = async () => {
    const [code] = codes
    if (code === undefined) return
    codes.push(...codes.splice(0, 1))
    await deployOne(world, code, ALL_VERSIONS)
    await quiesce(environment)
    await restartUntilAlive(world)
  }
  if (environment.deployed.versions !== ALL_VERSIONS) await deployNext()
  const open = async () => (await allRuns(environment)).filter(({ status }) => !isTerminal(status))
  for (let round = 0; round < MOST_ROUNDS && (await open()).length > 0; round++) {
    if ((await open()).some(isParked)) await deployNext()
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
  expect(await open(), `runs that never end`).toEqual([])
}

export interface ModelCheck {
  readonly open: () => Storage | Promise<Storage>
  readonly numRuns: number
  readonly seed?: number
}

/**
 * Checks the invariants of the engine in `numRuns` random histories. A failure prints its seed.
 *
 * @returns in how many histories each command, state and crash occurred
 */
export async function checkEngine({ open, numRuns, seed }: ModelCheck): Promise<string> {
  const coverage: Coverage = new Map()
  const property = fc.asyncProperty(scripts, (script) =>
    checkHistory(open, script, { onEnd: (world) => addCoverage(coverage, world) }),
  )
  await fc.assert(property, { numRuns, ...(seed === undefined ? {} : { seed }) })
  expectCoverage(coverage, numRuns)
  return showCoverage(coverage)
}

const scripts = fc.commands(commands, { maxCommands: 25, size: 'max' })
type Script = Iterable<fc.AsyncCommand<object, World>>

interface Checking {
  /** The commit at which a process crashes. */
  readonly crash?: Environment['crashCommit']
  readonly onEnd: (world: World) => unknown
}

/** Executes the script on a new storage, lets every run end, and checks the invariants throughout. */
async function checkHistory(open: ModelCheck['open'], script: Script, { crash, onEnd }: Checking): Promise<void> {
  const storage = await open()
  const world = await createWorld(storage)
  world.environment.crashCommit = crash
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
    await onEnd(world)
  } finally {
    world.process.kill()
    await storage.close()
  }
}

export interface SweepCheck extends ModelCheck {
  /** What a history must contain to be chosen. */
  readonly commits: readonly CommitKind[]
}

/**
 * Repeats `numRuns` random histories with a crash before and after each of their commits, one crash at a time.
 *
 * @returns the number of crashes
 */
export async function checkEveryCommit({ open, numRuns, seed = 1, commits }: SweepCheck): Promise<number> {
  let crashes = 0
  let chosen = 0
  for (let sample = 0; chosen < numRuns; sample++) {
    expect(sample, 'histories without these commits').toBeLessThan(5_000)
    const scriptOf = () => fc.sample(scripts, { seed: seed + sample, numRuns: 1 })[0] as Script
    let length = 0
    let isChosen = false
    await checkHistory(open, scriptOf(), {
      onEnd({ environment }) {
        length = environment.commits
        isChosen = commits.every((kind) => environment.witness.kinds.has(kind))
      },
    })
    if (!isChosen) continue
    chosen++
    for (let commit = 1; commit <= length; commit++)
      for (const point of ['before', 'after'] as const) {
        crashes++
        await checkHistory(open, scriptOf(), { crash: { commit, point }, onEnd: () => undefined }).catch((error) => {
          throw new Error(`history ${seed + sample}, crash ${point} commit ${commit}: ${scriptOf()}`, { cause: error })
        })
      }
  }
  return crashes
}
