/** A trial of a case, as `perdure eval` stores it. */
export interface StoredTrial {
  readonly eval: string
  readonly case: string
  readonly trial: number
  readonly pass: boolean
  readonly text: string
  readonly tools: readonly string[]
  readonly scores: readonly unknown[]
  readonly error?: string | undefined
}

/**
 * Reads the trials of a results file of `perdure eval`.
 *
 * @throws Error for a file of another form
 */
export function readTrials(text: string): readonly StoredTrial[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const [first, ...entries] = lines.map(entryOf)
  if (first?.kind !== 'start' || !String(first.format).startsWith('perdure-eval-'))
    throw new Error('this is not a results file of perdure eval, such as eval-results.ndjson')
  return entries.flatMap((entry) => (isTrial(entry) ? [entry] : []))
}

type Entry = Readonly<Record<string, unknown>>

function entryOf(line: string): Entry {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

const isTrial = (entry: Entry): entry is Entry & StoredTrial =>
  entry.kind === 'trial' &&
  [entry.eval, entry.case, entry.text].every((member) => typeof member === 'string') &&
  [entry.tools, entry.scores].every(Array.isArray) &&
  typeof entry.trial === 'number' &&
  typeof entry.pass === 'boolean'

/** The trials of one case in two files. */
export interface ComparedCase {
  readonly key: string
  readonly eval: string
  readonly case: string
  readonly before: readonly StoredTrial[]
  readonly after: readonly StoredTrial[]
}

/** Pairs the cases of two files; those that pass less often come first. */
export function compareCases(before: readonly StoredTrial[], after: readonly StoredTrial[]): readonly ComparedCase[] {
  const keys = [...new Set([...before, ...after].map(keyOf))]
  const cases = keys.map((key) => {
    const both = [before, after].map((trials) => trials.filter((trial) => keyOf(trial) === key))
    const [old = [], now = []] = both
    const named = now[0] ?? old[0]
    return { key, eval: named?.eval ?? '', case: named?.case ?? '', before: old, after: now }
  })
  return cases.sort((one, other) => changeOf(one) - changeOf(other))
}

const keyOf = (trial: StoredTrial): string => JSON.stringify([trial.eval, trial.case])

const shareOf = (trials: readonly StoredTrial[]): number | undefined =>
  trials.length === 0 ? undefined : trials.filter(({ pass }) => pass).length / trials.length

/** Below 0 for a case that passes less often than before; 0 without a counterpart. */
export function changeOf({ before, after }: Pick<ComparedCase, 'before' | 'after'>): number {
  const [old, now] = [shareOf(before), shareOf(after)]
  return old === undefined || now === undefined ? 0 : now - old
}

/** What the compared view shows of a trial. */
export const shownTrial = (trial: StoredTrial | undefined): unknown =>
  trial && { text: trial.text, tools: trial.tools, scores: trial.scores, error: trial.error }
