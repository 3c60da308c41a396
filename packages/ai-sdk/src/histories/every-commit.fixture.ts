import { expect } from 'vitest'
import type { Action, File, Meanwhile } from './actions.fixture.ts'
import { play } from './play.fixture.ts'
import type { World } from './server-world.fixture.ts'

export interface KillPoints {
  /** The number of the first commit. */
  readonly first: number
  readonly step: number
  readonly points: number
}

const EACH_COMMIT: KillPoints = { first: 1, step: 1, points: Number.POSITIVE_INFINITY }
const STEP = 5

/** `CRASH_POINTS=all` crashes after each commit, otherwise after three of them that differ between scenarios. */
export const threeCommits = (index: number): KillPoints => ({ first: 1 + (index % STEP), step: STEP, points: 3 })

const crash = undefined

const send = (kind: 'plain' | 'look' | 'pay', file: File = 'none', via: 'page' | 'rest' = 'page'): Action => ({
  ...{ type: 'send', tab: 0, kind, file, via, crash },
})

const busy = (end: 'release' | 'stop' | 'interrupt', ...messages: readonly Partial<Meanwhile>[]): Action => ({
  ...{ type: 'busy', end, crash },
  messages: messages.map((one) => ({
    onBusy: 'queue',
    kind: 'plain',
    file: 'none',
    change: 'none',
    via: 'rest',
    ...one,
  })),
})

export interface Scenario {
  readonly before?: readonly Action[]
  readonly action: Action
  readonly compacts?: boolean
}

const BEGUN = [send('plain')]

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'the first message, with a file': { action: send('look', 'large') },
  'an upload and its message': { before: BEGUN, action: send('look', 'large', 'rest') },
  'an upload into the database and its message': { before: BEGUN, action: send('plain', 'inline', 'rest') },
  'messages that wait for the turn': { before: BEGUN, action: busy('release', {}, { kind: 'look', file: 'large' }) },
  'a message that waits for a turn that is stopped': { before: BEGUN, action: busy('stop', { file: 'inline' }) },
  'an edited message': { before: BEGUN, action: busy('release', { change: 'edit' }, {}) },
  'a withdrawn message': { before: BEGUN, action: busy('release', { change: 'withdraw', file: 'inline' }, {}) },
  'steering messages': {
    before: BEGUN,
    action: busy('release', { onBusy: 'steer', file: 'large' }, { onBusy: 'steer' }),
  },
  'an interrupting message': { before: BEGUN, action: busy('interrupt', { onBusy: 'steer' }, {}) },
  'a compaction': { before: [send('plain'), send('look')], action: send('look'), compacts: true },
  'a compaction while a message waits': {
    ...{ before: [send('plain'), send('look'), send('plain')], action: busy('release', {}), compacts: true },
  },
  'a request for approval': { before: BEGUN, action: send('pay') },
  'an approval': { before: [send('plain'), send('pay')], action: { type: 'decide', isApproved: true, crash } },
  'a message that supersedes an approval': { before: [send('pay')], action: send('plain', 'inline') },
  'an edited turn': {
    before: [send('plain'), send('look')],
    action: { type: 'edit', tab: 0, message: 0, kind: 'plain', crash },
  },
  'a fork': { before: [send('plain', 'inline')], action: { type: 'fork', message: 0, crash } },
}

/** The world, and how often its server was killed. */
function counted(world: World) {
  let kills = 0
  const surviveFromNow = async () => {
    const more = await world.surviveFromNow()
    kills += more
    return more
  }
  return { world: { ...world, surviveFromNow }, kills: () => kills }
}

/** Tells the conversations of one server apart. */
let plays = 0

/** Kills the server after commits of the action, and judges the conversation each time. */
export async function killAtCommits(
  { before = [], action, compacts = false }: Scenario,
  wanted: KillPoints,
  open: (compacts: boolean) => Promise<World & { stop(): Promise<void> }>,
): Promise<void> {
  const { first, step, points: atMost } = process.env.CRASH_POINTS === 'all' ? EACH_COMMIT : wanted
  let points = 0
  for (let commit = first; points < atMost; commit += step) {
    const opened = await open(compacts)
    const { world, kills } = counted(opened)
    try {
      await play(world, { actions: [...before, { ...action, crash: commit }, send('plain')], compacts }, `${++plays}-`)
    } catch (cause) {
      throw new Error(`killed after commit ${commit}: ${cause}`, { cause })
    } finally {
      await opened.stop()
    }
    if (kills() === 0) break
    points++
  }
  expect(points).toBeGreaterThan(0)
}
