import { EVERY_ROW, type RunRecord } from '@perdure/ports'
import { expect } from 'vitest'
import type { World } from './engine-history.fixture.ts'

/** In how many histories each command, state and crash occurred. */
export type Coverage = Map<string, number>

/** Adds what occurred in a history that has ended. */
export async function addCoverage(coverage: Coverage, world: World): Promise<void> {
  const { environment, seen } = world
  const { items: runs } = await environment.storage.runs.list({}, { limit: 200, order: 'asc' }, EVERY_ROW)
  const events = (run: RunRecord) => environment.witness.events.get(run.id) ?? []
  const facts = new Set([
    ...[...seen].map((name) => name.replace(/,$/, '')),
    ...[...environment.crashedAt].map((crash) => `crash ${crash}`),
    ...runs.flatMap((run) => [...factsOf(run, events(run))]),
    ...(environment.witness.kinds.has('whole') ? ['start: whole run'] : []),
    ...(environment.witness.replaced.size > 0 ? ['fork: replaced result'] : []),
    ...(environment.witness.copied.size > 0 ? ['fork: copied outcome'] : []),
    ...(environment.witness.interrupted.size > 0 ? ['retry: interrupted step'] : []),
  ])
  for (const fact of facts) coverage.set(fact, (coverage.get(fact) ?? 0) + 1)
}

function* factsOf(run: RunRecord, events: readonly string[]): Iterable<string> {
  yield `run: ${run.status}`
  const { forkOf, retries = 0, status, parentRunId } = run
  if (forkOf !== undefined) yield `fork: ${status}`
  if (parentRunId !== undefined) yield `child: ${status}`
  if (retries > 0) yield `retry: ${status}`
  if (status === 'failed' && run.error?.code === 'final') yield 'retry: refused'
  if (events.some((event) => event.startsWith('run.suspended') && event.includes('"divergence"'))) {
    yield `divergence: ${status}`
    if (decidedWhileParked(events)) yield 'divergence: decided while parked'
  }
  if (events.some((event) => event.startsWith('run.suspended') && event.includes('"reason":"version"')))
    yield `missing version: ${status}`
  if (events.some((event) => event.startsWith('run.queued') && event.includes('"reason":"code"')))
    yield 'park: overtaken by a wait'
}

function decidedWhileParked(events: readonly string[]): boolean {
  const parked = events.findIndex((event) => event.startsWith('run.suspended') && event.includes('"divergence"'))
  const next = events.slice(parked + 1)
  const decision = next.findIndex((event) => /^approval\.(approved|denied|resolved|decided)/.test(event))
  const tried = next.findIndex((event) => event.startsWith('run.resumed'))
  return decision >= 0 && (tried < 0 || decision <= tried)
}

const KINDS = [
  'fork',
  'retry',
  'park',
  'continue',
  'version',
  'decision',
  'suspend',
  'wake',
  'end',
  'start',
  'call',
  'whole',
]

/** The usual number of histories, out of 1,000, in which each fact occurs; the check requires half of it. */
const LEAST: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    [
      'start',
      'fork',
      'deploy',
      'outage',
      'unpark',
      'converge',
      'decide',
      'abort',
      'resume',
      'crash',
      'aim',
      'stop',
    ].map((name) => [name, 100]),
  ),
  ...Object.fromEntries(KINDS.flatMap((kind) => ['before', 'after'].map((point) => [`crash ${point} ${kind}`, 3]))),
  ...{ 'start: whole run': 150 },
  ...{ 'run: completed': 500, 'run: failed': 100, 'run: aborted': 100 },
  ...{ 'fork: completed': 50, 'fork: failed': 20, 'fork: aborted': 20 },
  ...{ 'fork: copied outcome': 50, 'fork: replaced result': 20 },
  ...{ 'retry: completed': 15, 'retry: failed': 30, 'retry: refused': 3, 'retry: interrupted step': 1 },
  ...{ 'parked: divergence': 50, 'parked: version': 30, 'parked: late': 1 },
  ...{ 'divergence: completed': 30, 'divergence: aborted': 5, 'divergence: decided while parked': 5 },
  ...{ 'missing version: completed': 20, 'park: overtaken by a wait': 3 },
  ...{ 'version: 1 by absence': 10, 'version: 1 recorded': 3, 'version: 2 recorded': 30 },
}

/**
 * Checks that the generator still produces the states that the invariants cover. Rare states depend on chance, so they
 * are required only in 700 or more histories: those of the default seed have each of them.
 */
export function expectCoverage(coverage: Coverage, histories: number): void {
  const missing = Object.entries(LEAST).filter(([fact, of1000]) => {
    const expected = (of1000 * histories) / 1_000
    const least = expected < 20 ? Number(histories >= 700) : expected / 2
    return (coverage.get(fact) ?? 0) < least
  })
  expect(
    missing.map(([fact]) => `${fact}: ${coverage.get(fact) ?? 0}`),
    `what occurs in too few of ${histories} histories`,
  ).toEqual([])
}

export const showCoverage = (coverage: Coverage): string =>
  [...coverage]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([fact, count]) => `${fact}: ${count}`)
    .join('; ')
