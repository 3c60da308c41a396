import { basename } from 'node:path'
import { missingToolIn } from './skip-reason.ts'

/** The result of one test. */
export interface TestOutcome {
  readonly state: string
  readonly file: string
  /** The titles of its suites and its own. */
  readonly title: string
  /** The reason that the test itself gave for being skipped. */
  readonly note?: string | undefined
}

const NO_REASON = 'no reason given'

/**
 * The last lines of a run: a line per reason for which tests were skipped, with their files, and the counts. The last
 * line is `N passed, N failed` unless tests were skipped.
 */
export function summaryOf(outcomes: readonly TestOutcome[], otherFailures: number): readonly string[] {
  const count = (state: string) => outcomes.filter((one) => one.state === state).length
  const skipped = count('skipped')
  const total = `${count('passed')} passed, ${count('failed') + otherFailures} failed`
  return [...skipLines(outcomes), skipped > 0 ? `${total}, ${skipped} skipped` : total]
}

function skipLines(outcomes: readonly TestOutcome[]): readonly string[] {
  const byReason = new Map<string, TestOutcome[]>()
  for (const one of outcomes.filter(({ state }) => state === 'skipped')) {
    const reason = one.note ?? missingToolIn(one.title) ?? NO_REASON
    byReason.set(reason, [...(byReason.get(reason) ?? []), one])
  }
  return [...byReason].map(([reason, tests]) => {
    const files = [...new Set(tests.map(({ file }) => basename(file)))].sort()
    const more = files.length > MAX_FILES ? ` and ${files.length - MAX_FILES} more files` : ''
    return `${tests.length} skipped: ${reason} (${files.slice(0, MAX_FILES).join(', ')}${more})`
  })
}

/** With `-t`, most tests of a run are skipped. */
const MAX_FILES = 5
