import { writeFile } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import {
  compareResults,
  type EvalBudget,
  type EvalsRun,
  junitReport,
  runEvals,
  summarize,
  type TrialEntry,
  uncomparedIn,
} from '@perdure/evals'
import type { Call } from '../call.ts'
import { usageError } from '../cli-error.ts'
import { type EvalReport, evalText } from '../evals/eval-text.ts'
import { loadEvals } from '../evals/load-evals.ts'
import { openResults, readAgainst } from '../evals/results-file.ts'
import { EXIT_CODES, type ExitName } from '../exit-codes.ts'
import { parseDuration } from '../flag-time.ts'
import { evalReplay } from './eval-replay-command.ts'

export interface EvalFlags {
  readonly pattern?: string
  readonly out: string
  readonly against?: string
  readonly junit?: string
  readonly concurrency: number
  readonly maxRuns?: number
  readonly maxCost?: string
  readonly maxDuration?: string
  readonly replay?: Readonly<Record<string, string>>
  readonly resume?: boolean
  readonly restart?: boolean
}

/** Runs evals, or replays recorded runs, in this process, without a server. */
export const evalCommand = (call: Call, flags: EvalFlags): Promise<void> =>
  flags.replay === undefined ? runEvalFiles(call, flags) : evalReplay(call, flags.replay)

async function runEvalFiles(call: Call, flags: EvalFlags): Promise<void> {
  const { out, terminal } = call
  const { cwd } = terminal
  const budget = budgetOf(flags)
  const { evals, skipped } = await loadEvals(cwd, flags.pattern)
  for (const problem of skipped) out.note(problem)
  const path = resolve(cwd, flags.out)
  const before = flags.against === undefined ? undefined : await readAgainst(flags.against, { cwd, path })
  const file = await openResults(path, {
    ...{ resume: flags.resume === true, restart: flags.restart === true },
    only: flags.pattern === undefined ? undefined : evals.map(({ name }) => name),
  })
  let made: EvalsRun
  try {
    made = await runEvals(evals, {
      journal: file.journal,
      concurrency: flags.concurrency,
      budget,
      onTrial: (trial, progress) => showTrial(call, trial, progress),
    })
  } catch (error) {
    await file.leave()
    throw error
  }
  const { trials, planned, reused, outdated, invalid, stoppedBy } = made
  if (outdated > 0) {
    out.note(`${outdated} trials of the interrupted run were made with other code, so they were made again`)
  }
  if (stoppedBy === undefined) await file.finish(made)
  else await file.leave()
  const summaries = evals
    .filter(({ name }) => !invalid.some((one) => one.eval === name))
    .map((definition) => summarize(definition, trials))
  if (flags.junit !== undefined) await writeFile(resolve(cwd, flags.junit), junitReport(summaries, trials))
  const compared = before === undefined ? [] : compareResults(before, trials)
  const uncompared = before === undefined ? [] : uncomparedIn(before, trials, flags.pattern === undefined)
  const isWorse = compared.some(({ verdict, scorers }) =>
    [verdict, ...scorers.map((one) => one.verdict)].includes('worse'),
  )
  const ok = stoppedBy === undefined && invalid.length === 0 && summaries.every((one) => one.ok) && !isWorse
  const report: EvalReport = {
    ...{ ok, results: relative(cwd, stoppedBy === undefined ? path : `${path}.part`), planned },
    ...{
      made: trials.length - reused,
      reused,
      outdated,
      stoppedBy: stoppedBy ?? null,
      evals: summaries,
      compared,
      uncompared,
      invalid,
    },
  }
  out.document(report, (paint) => evalText(report, paint))
  if (stoppedBy !== undefined) {
    out.note(
      `stopped by ${BUDGET_FLAGS[stoppedBy]} after ${trials.length} of ${planned} trials; --resume runs the others`,
    )
  }
  if (!ok) call.finish(EXIT_CODES[exitOf(made, report)].code)
}

/** A budget that is used up says nothing about the evals: the run can be continued. */
const exitOf = ({ stoppedBy, invalid }: EvalsRun, { evals }: EvalReport): ExitName =>
  stoppedBy !== undefined && invalid.length === 0 && evals.length > 0 ? 'unreachable' : 'problem'

const BUDGET_FLAGS = {
  runs: '--max-runs',
  costUsd: '--max-cost',
  durationMs: '--max-duration',
  signal: 'a signal',
} as const

function budgetOf({ maxRuns, maxCost, maxDuration }: EvalFlags): EvalBudget {
  const costUsd = maxCost === undefined ? undefined : Number(maxCost)
  if (costUsd !== undefined && !(costUsd >= 0)) {
    throw usageError(`--max-cost is not an amount of US dollars: ${maxCost}`, 'write it like 0.50')
  }
  return {
    runs: maxRuns,
    costUsd,
    durationMs: maxDuration === undefined ? undefined : parseDuration('max-duration', maxDuration),
  }
}

/** On a terminal, one line that counts; otherwise a line for each trial that failed. */
function showTrial(
  { terminal, out }: Call,
  { pass, eval: name, case: id, ms }: TrialEntry,
  { done, planned }: { readonly done: number; readonly planned: number },
): void {
  if (terminal.stderr.isTTY === true && !out.isJson) {
    terminal.stderr.write(`\r${done}/${planned}${done === planned ? '\n' : ''}`)
  } else if (!pass) out.note(`failed  ${name} › ${id}  (${ms} ms, ${done}/${planned})`)
}
