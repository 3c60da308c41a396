import type { TrialEntry } from './results.ts'
import { type Comparison, compareProportions, type Proportion } from './statistics.ts'

export interface ComparedRate extends Comparison {
  readonly name: string
  readonly before: Proportion
  readonly after: Proportion
}

export interface ComparedEval extends ComparedRate {
  readonly scorers: readonly ComparedRate[]
  /** Cases that passed more or fewer of their tries than before; most differences of single cases are not significant. */
  readonly cases: readonly ComparedRate[]
}

/** Compares the evals that both results have. Only cases that both have, unchanged, count. */
export function compareResults(before: readonly TrialEntry[], after: readonly TrialEntry[]): readonly ComparedEval[] {
  const names = new Set(after.map((trial) => trial.eval))
  return [...names].flatMap((name): readonly ComparedEval[] => {
    const ofEval = (trials: readonly TrialEntry[]) => trials.filter((trial) => trial.eval === name)
    const [old, now] = shared(ofEval(before), ofEval(after))
    if (old.length === 0) return []
    const scorers = namesIn(now, ({ scores }) => scores.map((score) => score.name))
    const cases = namesIn(now, (trial) => [trial.case])
    return [
      {
        ...compared(name, old.map(passes), now.map(passes)),
        scorers: scorers
          .map((scorer) => compared(scorer, old.flatMap(passesOf(scorer)), now.flatMap(passesOf(scorer))))
          .filter((one) => one.before.trials > 0),
        cases: cases
          .map((id) =>
            compared(
              id,
              old.filter((trial) => trial.case === id).map(passes),
              now.filter((trial) => trial.case === id).map(passes),
            ),
          )
          .filter((one) => one.before.passed / one.before.trials !== one.after.passed / one.after.trials),
      },
    ]
  })
}

const caseKey = (trial: TrialEntry): string => JSON.stringify([trial.case, trial.of])

/** The trials of cases that both have. */
function shared(before: readonly TrialEntry[], after: readonly TrialEntry[]) {
  const [old, now] = [new Set(before.map(caseKey)), new Set(after.map(caseKey))]
  return [before.filter((trial) => now.has(caseKey(trial))), after.filter((trial) => old.has(caseKey(trial)))] as const
}

const namesIn = (trials: readonly TrialEntry[], of: (trial: TrialEntry) => readonly string[]): readonly string[] => [
  ...new Set(trials.flatMap(of)),
]

const passes = ({ pass }: TrialEntry): boolean => pass

const passesOf =
  (scorer: string) =>
  ({ scores }: TrialEntry): readonly boolean[] =>
    scores.filter(({ name }) => name === scorer).map(({ pass }) => pass)

function compared(name: string, before: readonly boolean[], after: readonly boolean[]): ComparedRate {
  const [old, now] = [proportionOf(before), proportionOf(after)]
  return { name, before: old, after: now, ...compareProportions(old, now) }
}

const proportionOf = (passed: readonly boolean[]): Proportion => ({
  passed: passed.filter(Boolean).length,
  trials: passed.length,
})
