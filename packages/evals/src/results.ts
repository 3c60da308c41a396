import type { Score, TrialUsage } from './trial.ts'

export const RESULTS_FORMAT = 'perdure-eval-1'

/** One line of a results file. */
export type ResultEntry = StartEntry | TrialEntry | AnswerEntry

export interface StartEntry {
  readonly kind: 'start'
  readonly format: typeof RESULTS_FORMAT
  readonly at: string
}

export interface TrialEntry {
  readonly kind: 'trial'
  readonly eval: string
  readonly case: string
  /** The number of the try, from 1. */
  readonly trial: number
  /** A hash of the case: results of a case that was edited do not count for it. */
  readonly of: string
  /** A hash of the evaluated code, as far as it is known. A resumed run makes the trials of other code again. */
  readonly code?: string
  readonly pass: boolean
  readonly scores: readonly (Score & { readonly name: string })[]
  readonly usage: TrialUsage
  /** What the scorers used. */
  readonly judged: TrialUsage
  readonly ms: number
  /** The last answer, at most 2,000 characters. */
  readonly text: string
  readonly tools: readonly string[]
  readonly error?: string
  /** The approvals that nobody has decided, in one sentence. */
  readonly waiting?: string
}

/** A recorded answer of a judge. */
export interface AnswerEntry {
  readonly kind: 'answer'
  readonly key: string
  readonly value: unknown
  readonly usage: TrialUsage
}

/** Where results are stored while the evals run. */
export interface Journal {
  /** What earlier processes have stored. */
  readonly earlier: readonly ResultEntry[]
  /** Resolves once the entry is on disk. */
  append(entry: ResultEntry): Promise<void>
}

/** A journal that is only in memory. */
export const memoryJournal = (earlier: readonly ResultEntry[] = []): Journal => ({
  earlier,
  append: async () => undefined,
})

/**
 * Reads a results file, without a last line that a crash has cut.
 *
 * @throws Error for a text that is not a results file
 */
export function parseResults(text: string, source: string): readonly ResultEntry[] {
  const lines = text.split('\n')
  const cut = lines.pop()
  const entries = lines.filter((line) => line !== '').map((line, index) => parseLine(line, `${source}:${index + 1}`))
  const whole = cut === undefined || cut === '' ? undefined : tryParse(cut)
  if (whole !== undefined) entries.push(whole)
  const [first] = entries
  if (first === undefined && text.trim() === '') return []
  if (first?.kind === 'start' && first.format === RESULTS_FORMAT) return entries
  throw new Error(`${source} is not a results file: its first line must have the format ${RESULTS_FORMAT}`)
}

function parseLine(line: string, place: string): ResultEntry {
  const entry = tryParse(line)
  if (entry === undefined) throw new Error(`${place} is not a line of a results file`)
  return entry
}

function tryParse(line: string): ResultEntry | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && 'kind' in value ? (value as ResultEntry) : undefined
  } catch {
    return undefined
  }
}

/** The entries as text, trials in the order of their evals, cases and tries. */
export function formatResults(entries: readonly ResultEntry[]): string {
  const rank = (entry: ResultEntry): string => {
    if (entry.kind === 'start') return '0'
    if (entry.kind === 'answer') return `2 ${entry.key}`
    return `1 ${entry.eval}\u0000${entry.case}\u0000${String(entry.trial).padStart(9, '0')}`
  }
  const sorted = entries
    .map((entry) => ({ entry, key: rank(entry) }))
    .sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
  return sorted.map(({ entry }) => `${JSON.stringify(entry)}\n`).join('')
}

export const trialsIn = (entries: readonly ResultEntry[]): readonly TrialEntry[] =>
  entries.filter((entry) => entry.kind === 'trial')
