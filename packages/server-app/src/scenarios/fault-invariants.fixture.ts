import { EVERY_ROW, type RunRecord, type Storage } from '@perdure/ports'
import type { Operation } from '@perdure/protocol'
import { expect } from 'vitest'
import type { Seen } from './fault-answer.fixture.ts'
import type { Surroundings } from './fault-machine.fixture.ts'
import type { Asked } from './fault-requests.fixture.ts'

interface Story {
  readonly asked: Asked
  readonly answers: readonly Seen[]
}

export interface FaultResult {
  readonly around: Surroundings
  readonly stories: readonly Story[]
  readonly problems: readonly string[]
}

const PAGE = { limit: 200, order: 'asc' } as const
const END = /^run\.(completed|failed|aborted)$/
const TERMINAL = new Set(['completed', 'failed', 'aborted'])

/** Checks the invariants once the faults have stopped and all work has had time to finish. */
export async function expectSoundStorage({ around, stories, problems }: FaultResult): Promise<void> {
  const { storage, errors } = around
  expect(problems, errors.slice(-5).join('\n')).toEqual([])
  const runs = await allRuns(storage)
  expectNothingStuck(runs)
  for (const run of runs) expectJustifiedFailure(run)
  expectOncePerKey(runs, stories)
  await expectAcknowledged(storage, stories)
  for (const run of runs) await expectConsistent(storage, run)
  await expectNothingPending(storage, runs)
  await expectAudited(storage)
}

async function allRuns({ runs }: Storage): Promise<readonly RunRecord[]> {
  const found: RunRecord[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await runs.list({}, { ...PAGE, cursor }, EVERY_ROW)
    found.push(...page.items)
    if (page.nextCursor === null) return found
    cursor = page.nextCursor
  }
}

/** Every run has ended or waits for an approval. */
function expectNothingStuck(runs: readonly RunRecord[]): void {
  const waits = ({ status, targetId }: RunRecord) => status === 'suspended' && targetId === 'asks'
  expect(
    runs.filter((run) => !TERMINAL.has(run.status) && !waits(run)),
    'runs that are stuck',
  ).toEqual([])
}

const REPEATS = new Set(['runs.fork', 'runs.retry', 'runs.rerun'])
const CRASHED = ['run-interrupted', 'attempts-exhausted']

/** A run fails only because of a crash or, if its code writes records, because of a full disk. */
function expectJustifiedFailure({ id, targetId, status, error }: RunRecord): void {
  if (status !== 'failed') return
  const writesRecords = targetId === 'streams' || targetId === 'flow' || targetId === 'asks'
  const allowed = writesRecords ? [...CRASHED, 'storage-full', 'step-failed'] : CRASHED
  expect(allowed, `${id} of ${targetId}: ${error?.message}`).toContain(error?.code)
}

/**
 * Each idempotency key has one run, not counting its repetitions, and all answers to requests with that key name the same
 * resource.
 */
function expectOncePerKey(runs: readonly RunRecord[], stories: readonly Story[]): void {
  const byKey = Map.groupBy(
    runs.filter(({ metadata, forkOf }) => metadata.key !== undefined && forkOf === undefined),
    ({ metadata }) => metadata.key,
  )
  for (const [key, same] of byKey)
    expect(
      same.map(({ id }) => id),
      `runs of ${key}`,
    ).toHaveLength(1)
  const repeating = stories.filter(({ asked }) => REPEATS.has(asked.operation.id))
  expect(runs.filter(({ forkOf }) => forkOf !== undefined).length, 'repetitions').toBeLessThanOrEqual(repeating.length)
  for (const { asked, answers } of stories) {
    if (asked.key === undefined) continue
    const named = answers.filter(({ status }) => status < 300).map(({ json }) => json.runId ?? json.id)
    expect(new Set(named).size, `${asked.operation.id} ${asked.key}: ${named}`).toBeLessThanOrEqual(1)
  }
}

/** Finds the resource that an answer of the operation named. */
const FIND: Readonly<Record<string, (storage: Storage, id: string) => Promise<unknown>>> = {
  'agents.run': ({ runs }, id) => runs.find(id, EVERY_ROW),
  'agents.stream': ({ runs }, id) => runs.find(id, EVERY_ROW),
  'workflows.execute': ({ runs }, id) => runs.find(id, EVERY_ROW),
  'triggers.fire': ({ runs }, id) => runs.find(id, EVERY_ROW),
  'runs.fork': ({ runs }, id) => runs.find(id, EVERY_ROW),
  'runs.retry': ({ runs }, id) => runs.find(id, EVERY_ROW),
  'runs.rerun': ({ runs }, id) => runs.find(id, EVERY_ROW),
  'tokens.create': ({ tokens }, id) => tokens.find(id),
  'sessions.create': ({ sessions }, id) => sessions.find(id, EVERY_ROW),
  'triggers.create': ({ triggers }, id) => triggers.find(id),
}

/**
 * Every acknowledged resource exists, unless a client requested its deletion, or disabled it so that it could be
 * pruned.
 */
async function expectAcknowledged(storage: Storage, stories: readonly Story[]): Promise<void> {
  const isRemoval = ({ id }: Operation) => id === 'triggers.delete' || id === 'triggers.disable'
  const removed = new Set(
    stories.flatMap(({ asked }) => (isRemoval(asked.operation) ? [asked.path.split('/')[3]] : [])),
  )
  const named = stories.flatMap(({ asked, answers }) => {
    const find = FIND[asked.operation.id]
    const isDoomed = /"[du]-\d"/.test(JSON.stringify(asked.body) ?? '')
    if (find === undefined || isDoomed) return []
    return answers.flatMap(({ status, json: { runId, id } }) => (status < 300 ? { find, id: runId ?? id } : []))
  })
  for (const { find, id } of named) {
    // A streamed answer names its run only in its events.
    if (id === undefined || removed.has(id)) continue
    expect(await find(storage, id), id).toBeDefined()
  }
}

/** The events and the transcript of a run agree with its record. */
async function expectConsistent(storage: Storage, run: RunRecord): Promise<void> {
  const events = await storage.events.read({ runId: run.id }, { after: 0, limit: 1_000 })
  const types = events.map(({ type }) => type)
  const ends = types.flatMap((type, index) => (END.test(type) ? [[type, index]] : []))
  expect(types[0], run.id).toMatch(run.forkOf === undefined ? /^run\.(queued|started)$/ : /^run\.forked$/)
  expect(ends, `${run.id}: ${types}`).toEqual(TERMINAL.has(run.status) ? [[`run.${run.status}`, types.length - 1]] : [])
  if (run.targetId === 'streams' && run.status === 'completed') {
    expect(
      types.filter((type) => type === 'text.delta'),
      `${run.id}: ${types}`,
    ).toHaveLength(3)
  }
  if (run.sessionId === undefined) return
  const { items } = await storage.sessions.messages(run.sessionId, { ...PAGE })
  const roles = items.filter(({ runId }) => runId === run.id).map(({ role }) => role)
  // A repetition with the same input in the same session repeats no message of the user.
  const asked = run.forkOf === undefined ? ['user'] : []
  expect(roles, `${run.id} ${run.status}`).toEqual(run.status === 'completed' ? [...asked, 'assistant'] : asked)
}

/** No approval, event or fire still waits for a run that has ended. */
async function expectNothingPending(storage: Storage, runs: readonly RunRecord[]): Promise<void> {
  const ended = new Set(runs.filter(({ status }) => TERMINAL.has(status)).map(({ id }) => id))
  const { items } = await storage.approvals.list({ status: 'pending' }, PAGE, EVERY_ROW)
  expect(
    items.filter(({ runId }) => ended.has(runId)),
    'approvals of runs that have ended',
  ).toEqual([])
  expect(await storage.emissions.list(1), 'events that were not delivered').toEqual([])
  const triggers = await storage.triggers.list(PAGE)
  for (const { id } of triggers.items) {
    const fires = await storage.fires.list({ triggerId: id }, PAGE)
    const open = fires.items.filter(
      ({ status, runId = '' }) => status === 'pending' || (status === 'started' && ended.has(runId)),
    )
    expect(open, `fires of ${id}`).toEqual([])
  }
}

/** Every token has exactly one audit entry: its creation, or the rotation that replaced an older one. */
async function expectAudited(storage: Storage): Promise<void> {
  const entries = await storage.audit.read({ afterSeq: 0, limit: 10_000 })
  const { items } = await storage.tokens.list(PAGE)
  for (const { id } of items) {
    const replaced = items.find(({ replacedBy }) => replacedBy === id)
    const [wanted, target] = replaced === undefined ? ['tokens.create', id] : ['tokens.rotate', replaced.id]
    const made = entries.filter(
      (entry) =>
        entry.action === wanted &&
        entry.target === target &&
        entry.detail?.replayed !== true &&
        entry.decision === 'allowed',
    )
    expect(made, `entries of ${id} ${JSON.stringify(made)}`).toHaveLength(1)
  }
}
