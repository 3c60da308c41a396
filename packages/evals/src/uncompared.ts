import type { TrialEntry } from './results.ts'

/**
 * Names what a comparison leaves out, in full sentences: evals and cases that only one of the results has, such as renamed ones, and
 * cases that were edited.
 *
 * @param isWhole whether `after` has the trials of all evals
 */
export function uncomparedIn(
  before: readonly TrialEntry[],
  after: readonly TrialEntry[],
  isWhole: boolean,
): readonly string[] {
  const [old, now] = [byEval(before), byEval(after)]
  const added = [...now.keys()].filter((name) => !old.has(name))
  const removed = isWhole ? [...old.keys()].filter((name) => !now.has(name)) : []
  const shared = [...now].flatMap(([name, trials]) => casesBeside(name, old.get(name) ?? [], trials))
  return [
    ...added.map((name) => `${name} is not compared: the earlier results do not have this eval`),
    ...removed.map((name) => `${name} is not compared: only the earlier results have this eval`),
    ...shared,
  ]
}

const byEval = (trials: readonly TrialEntry[]) => Map.groupBy(trials, (trial) => trial.eval)

function casesBeside(name: string, before: readonly TrialEntry[], after: readonly TrialEntry[]): readonly string[] {
  if (before.length === 0) return []
  const [old, now] = [casesIn(before), casesIn(after)]
  const both = [...now.keys()].filter((id) => old.has(id))
  const groups = [
    ['new', [...now.keys()].filter((id) => !old.has(id))],
    ['removed', [...old.keys()].filter((id) => !now.has(id))],
    ['edited', both.filter((id) => ![...(old.get(id) ?? [])].some((of) => now.get(id)?.has(of)))],
  ] as const
  return groups.flatMap(([kind, ids]) =>
    ids.length === 0
      ? []
      : [`${name}: ${ids.length} ${kind} ${ids.length === 1 ? 'case is' : 'cases are'} not compared: ${listOf(ids)}`],
  )
}

/** The hashes of each case. */
function casesIn(trials: readonly TrialEntry[]): ReadonlyMap<string, ReadonlySet<string>> {
  const byCase = Map.groupBy(trials, (trial) => trial.case)
  return new Map([...byCase].map(([id, tries]) => [id, new Set(tries.map(({ of }) => of))]))
}

const MAX_NAMED = 5

function listOf(ids: readonly string[]): string {
  const more = ids.length - MAX_NAMED
  return `${ids.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
