import type { TrialEntry } from './results.ts'
import { type EvalSummary, reasonOf } from './summary.ts'

/** A report in the format of JUnit: an eval is a suite, a try of a case is a test. */
export function junitReport(evals: readonly EvalSummary[], trials: readonly TrialEntry[]): string {
  const suites = evals.map(({ name }) =>
    suiteOf(
      name,
      trials.filter((trial) => trial.eval === name),
    ),
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('')}</testsuites>\n`
}

function suiteOf(name: string, trials: readonly TrialEntry[]): string {
  const failures = trials.filter(({ pass }) => !pass).length
  const tests = trials.map(testOf).join('')
  return `  <testsuite name="${escaped(name)}" tests="${trials.length}" failures="${failures}">\n${tests}  </testsuite>\n`
}

function testOf(trial: TrialEntry): string {
  const name = trial.trial === 1 ? trial.case : `${trial.case} (${trial.trial})`
  const open = `    <testcase classname="${escaped(trial.eval)}" name="${escaped(name)}" time="${(trial.ms / 1000).toFixed(3)}"`
  const reason = reasonOf(trial)
  if (reason === undefined) return `${open}/>\n`
  return `${open}>\n      <failure message="${escaped(reason)}">${escaped(trial.text)}</failure>\n    </testcase>\n`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** The text in XML, without the characters that XML cannot hold. */
const escaped = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: XML forbids them
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
