import { createHash } from 'node:crypto'
import { NO_RECORDED_USAGE as NOTHING, readScore, sumOfUsage as sum } from '@perdure/core'
import type { EvalDefinition } from './define-eval.ts'
import { playCase } from './play-case.ts'
import { type Journal, type TrialEntry, trialsIn } from './results.ts'
import type { EvalCase, Score, Scorer, ScorerTools, Trial, TrialUsage } from './trial.ts'

export interface EvalBudget {
  /** The most trials. */
  readonly runs?: number | undefined
  /** In US dollars, with the judges. Trials that have begun end, so the last ones may exceed it. */
  readonly costUsd?: number | undefined
  readonly durationMs?: number | undefined
}

export interface RunEvalsOptions {
  readonly journal: Journal
  /** How many trials run at the same time. Default 8. */
  readonly concurrency?: number
  readonly budget?: EvalBudget
  readonly onTrial?: (entry: TrialEntry, progress: { readonly done: number; readonly planned: number }) => void
  readonly signal?: AbortSignal
}

export interface EvalsRun {
  /** The trials of this run, and those of earlier ones that count. */
  readonly trials: readonly TrialEntry[]
  readonly planned: number
  /** How many trials were read from the journal. */
  readonly reused: number
  /** How many trials of the journal do not count, because they were made with other code. */
  readonly outdated: number
  /** What ended the run before all trials were made. */
  readonly stoppedBy?: 'runs' | 'costUsd' | 'durationMs' | 'signal'
  /** Scorers that are wrong about their own control cases, and evals whose cases cannot be read. */
  readonly invalid: readonly { readonly eval: string; readonly problem: string }[]
}

interface Planned {
  readonly definition: EvalDefinition
  readonly evalCase: EvalCase
  readonly trial: number
  readonly of: string
}

/** Runs all trials of the evals that the journal does not have yet. Each is in the journal before the next one begins. */
export async function runEvals(evals: readonly EvalDefinition[], options: RunEvalsOptions): Promise<EvalsRun> {
  const { journal, concurrency = 8, budget = {}, onTrial, signal } = options
  const answers: Judging['answers'] = new Map()
  let spentUsd = 0
  for (const entry of journal.earlier) {
    if (entry.kind === 'answer') answers.set(entry.key, Promise.resolve(entry.value))
    if (entry.kind === 'answer') spentUsd += entry.usage.costUsd
    if (entry.kind === 'trial') spentUsd += entry.usage.costUsd
  }
  const spend = (usd: number): void => {
    spentUsd += usd
  }
  const invalid: EvalsRun['invalid'][number][] = []
  const plan = await planOf(evals, { invalid, answers, journal, spend })
  const earlier = new Map(trialsIn(journal.earlier).map((entry) => [keyOf(entry), entry]))
  const trials = plan.flatMap((planned) => earlier.get(keyOf(entryIdOf(planned))) ?? [])
  const reused = trials.length
  const outdated = outdatedIn(plan, trialsIn(journal.earlier))
  const left = plan.filter((planned) => !earlier.has(keyOf(entryIdOf(planned))))
  const startedMs = performance.now()
  let begun = 0
  let stoppedBy: EvalsRun['stoppedBy']

  const limit = (): EvalsRun['stoppedBy'] => {
    if (signal?.aborted === true) return 'signal'
    if (begun >= (budget.runs ?? Number.POSITIVE_INFINITY)) return 'runs'
    if (spentUsd >= (budget.costUsd ?? Number.POSITIVE_INFINITY)) return 'costUsd'
    return performance.now() - startedMs >= (budget.durationMs ?? Number.POSITIVE_INFINITY) ? 'durationMs' : undefined
  }

  const work = async () => {
    for (;;) {
      if (left.length === 0) return
      stoppedBy ??= limit()
      if (stoppedBy !== undefined) return
      const planned = left.shift() as Planned
      begun++
      const entry = await tryOnce(planned, { answers, journal })
      await journal.append(entry)
      spentUsd += entry.usage.costUsd + entry.judged.costUsd
      trials.push(entry)
      onTrial?.(entry, { done: trials.length, planned: plan.length })
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, concurrency) }, work))
  return { trials, planned: plan.length, reused, outdated, invalid, ...(stoppedBy === undefined ? {} : { stoppedBy }) }
}

interface Planning extends Judging {
  readonly invalid: EvalsRun['invalid'][number][]
  readonly spend: (usd: number) => void
}

/** The trials of all evals whose scorers are right about their control cases. */
async function planOf(
  evals: readonly EvalDefinition[],
  { invalid, spend, ...judging }: Planning,
): Promise<readonly Planned[]> {
  const plan: Planned[] = []
  for (const definition of evals) {
    const { name, repeat } = definition
    try {
      const cases = await definition.readCases(definition.context)
      const problems = await checkScorers(
        [...definition.scorers, ...cases.flatMap(({ scorers = [] }) => scorers)],
        judging,
        spend,
      )
      for (const problem of problems) invalid.push({ eval: name, problem })
      if (problems.length > 0) continue
      for (const evalCase of cases) {
        const of = printOf(evalCase)
        for (let trial = 1; trial <= repeat; trial++) plan.push({ definition, evalCase, trial, of })
      }
    } catch (error) {
      invalid.push({ eval: name, problem: messageOf(error) })
    }
  }
  return plan
}

async function checkScorers(
  scorers: readonly Scorer[],
  judging: Judging,
  spend: (usd: number) => void,
): Promise<readonly string[]> {
  const problems: string[] = []
  for (const scorer of new Set(scorers)) {
    const { tools, used } = scorerTools(judging)
    const problem = await scorer.check?.(tools)
    if (problem !== undefined) problems.push(problem)
    spend(used().costUsd)
  }
  return problems
}

type EntryId = Pick<TrialEntry, 'eval' | 'case' | 'trial' | 'of' | 'code'>

const entryIdOf = ({ definition: { name, code }, evalCase, trial, of }: Planned): EntryId => ({
  ...{ eval: name, case: evalCase.id, trial, of },
  ...(code === undefined ? {} : { code }),
})

const keyOf = ({ eval: name, case: id, trial, of, code }: EntryId): string =>
  JSON.stringify([name, id, trial, of, code])

function outdatedIn(plan: readonly Planned[], earlier: readonly TrialEntry[]): number {
  const stored = new Set(earlier.map(keyOf))
  const tried = new Set(earlier.map(withoutCode))
  return plan.map(entryIdOf).filter((id) => !stored.has(keyOf(id)) && tried.has(withoutCode(id))).length
}

const withoutCode = ({ code: _, ...id }: EntryId): string => keyOf(id)

/** A hash of the data of a case; functions do not count. */
const printOf = (evalCase: EvalCase): string =>
  createHash('sha256').update(JSON.stringify(evalCase)).digest('hex').slice(0, 12)

interface Judging {
  /** By key; a question that is being asked is not asked again. */
  readonly answers: Map<string, Promise<unknown>>
  readonly journal: Journal
}

const MAX_TEXT = 2_000

async function tryOnce(planned: Planned, judging: Judging): Promise<TrialEntry> {
  const { definition, evalCase } = planned
  const startedMs = performance.now()
  const id = { kind: 'trial', ...entryIdOf(planned) } as const
  const ms = () => Math.round(performance.now() - startedMs)
  let trial: Trial
  try {
    trial = await playCase(definition, evalCase)
  } catch (error) {
    const nothing = { scores: [], usage: NOTHING, judged: NOTHING, text: '', tools: [] }
    return { ...id, pass: false, ...nothing, ms: ms(), error: messageOf(error) }
  }
  const { tools, used } = scorerTools(judging)
  const scores: TrialEntry['scores'][number][] = []
  for (const scorer of [...definition.scorers, ...(evalCase.scorers ?? [])]) {
    scores.push({ name: scorer.name, ...(await scoreWith(scorer, trial, tools)) })
  }
  const hasEnded = trial.error === undefined && trial.status !== 'failed'
  return {
    ...id,
    pass: hasEnded && scores.every(({ pass }) => pass),
    scores,
    usage: trial.usage,
    judged: used(),
    ms: ms(),
    text: trial.text.slice(0, MAX_TEXT),
    tools: trial.toolCalls.map(({ toolName }) => toolName),
    ...waitingOf(trial),
    ...(hasEnded ? {} : { error: trial.error ?? `the run is ${trial.status}` }),
  }
}

/** Names what still waits, and the decisions of the case that nobody has asked for, one of which may have a wrong name. */
function waitingOf({ case: { decisions = {} }, waitingFor, decisions: made }: Trial): Pick<TrialEntry, 'waiting'> {
  if (waitingFor.length === 0) return {}
  const asked = new Set(made.map(({ name }) => name))
  const unused = Object.keys(decisions).filter((name) => !asked.has(name))
  const names = [...new Set(waitingFor)]
  const waiting = `${listOf(names)} ${names.length === 1 ? 'waits' : 'wait'} for a decision`
  return { waiting: unused.length === 0 ? waiting : `${waiting}; decisions has only ${listOf(unused)}` }
}

const listOf = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(', ')

async function scoreWith(scorer: Scorer, trial: Trial, tools: ScorerTools): Promise<Score> {
  try {
    return readScore(await scorer.score(trial, tools), scorer.name)
  } catch (error) {
    return { pass: false, reason: messageOf(error), isError: true }
  }
}

function scorerTools({ answers, journal }: Judging): { readonly tools: ScorerTools; readonly used: () => TrialUsage } {
  let used = NOTHING
  const record = async <T>(key: string, ask: () => Promise<T>): Promise<T> => {
    const before = used
    const value = await ask()
    await journal.append({ kind: 'answer', key, value, usage: difference(used, before) })
    return value
  }
  return {
    used: () => used,
    tools: {
      recorded<T>(key: string, ask: () => Promise<T>): Promise<T> {
        const known = answers.get(key)
        if (known !== undefined) return known as Promise<T>
        const asking = record(key, ask)
        answers.set(key, asking)
        // An answer that did not come is asked for again.
        asking.catch(() => answers.delete(key))
        return asking
      },
      charge: (usage) => {
        used = sum(used, usage)
      },
    },
  }
}

const difference = (used: TrialUsage, before: TrialUsage): TrialUsage => ({
  inputTokens: used.inputTokens - before.inputTokens,
  outputTokens: used.outputTokens - before.outputTokens,
  costUsd: used.costUsd - before.costUsd,
})

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
