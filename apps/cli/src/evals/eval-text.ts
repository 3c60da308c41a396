import {
  type ComparedEval,
  type ComparedRate,
  type EvalSummary,
  type EvalsRun,
  type Interval,
  percent,
} from '@perdure/evals'
import { columnsText, oneLine } from '../output/columns.ts'
import type { Paint } from '../output/paint.ts'

export interface EvalReport {
  readonly ok: boolean
  readonly results: string
  readonly planned: number
  readonly made: number
  readonly reused: number
  readonly outdated: number
  readonly stoppedBy: EvalsRun['stoppedBy'] | null
  readonly evals: readonly EvalSummary[]
  readonly compared: readonly ComparedEval[]
  /** What the comparison leaves out. */
  readonly uncompared: readonly string[]
  readonly invalid: EvalsRun['invalid']
}

/** The report of `perdure eval` for people. */
export function evalText(report: EvalReport, paint: Paint): string {
  const { evals, compared, uncompared, invalid } = report
  const table = columnsText(
    evals,
    [
      { head: 'EVAL', cell: ({ name }) => name, isId: true },
      { head: 'RESULT', cell: ({ ok }) => (ok ? 'completed' : 'failed'), isStatus: true },
      { head: 'PASSED', cell: ({ passed, trials }) => `${passed}/${trials}` },
      { head: 'RATE', cell: ({ rate }) => (rate === undefined ? '-' : percent(rate)) },
      { head: '95 % INTERVAL', cell: ({ interval }) => intervalText(interval) },
      { head: 'TOKENS', cell: ({ usage }) => usage.inputTokens + usage.outputTokens },
      { head: 'COST', cell: ({ usage }) => (usage.costUsd === 0 ? '-' : `$${usage.costUsd.toFixed(4)}`) },
    ],
    { paint, width: undefined },
  )
  const lines = [
    ...evals.flatMap((one) => evalLines(one, paint)),
    ...invalid.map((one) => `${paint('red', 'invalid')}  ${one.eval}: ${oneLine(one.problem)}`),
    ...compared.flatMap((one) => comparedLines(one, paint)),
    ...uncompared.map(oneLine),
  ]
  return `${table}${lines.map((line) => `${line}\n`).join('')}`
}

function evalLines({ name, problems, scorerErrors, cases }: EvalSummary, paint: Paint): readonly string[] {
  const shown = cases.filter(({ status }) => status !== 'passed')
  return [
    ...shown.map(({ id, status, passed, trials, interval, reason }) => {
      const rate = trials === 1 ? '' : `  ${passed}/${trials} passed, ${intervalText(interval)}`
      return `${paint(status === 'flaky' ? 'yellow' : 'red', status)}  ${name} › ${oneLine(id)}${rate}  ${oneLine(reason ?? '')}`
    }),
    ...scorerErrors.map((problem) => `${paint('red', 'broken scorer')}  ${name}: ${oneLine(problem)}`),
    ...problems.map((problem) => `${paint('red', 'below threshold')}  ${name}: ${problem}`),
  ]
}

function comparedLines(one: ComparedEval, paint: Paint): readonly string[] {
  const changed = one.scorers.filter(({ verdict }) => verdict !== 'same')
  return [
    comparedLine(one.name, one, paint),
    ...changed.map((scorer) => comparedLine(`${one.name} › ${scorer.name}`, scorer, paint)),
    ...one.cases.map(
      ({ name, before, after }) => `       ${one.name} › ${oneLine(name)}: ${fraction(before)} → ${fraction(after)}`,
    ),
  ]
}

const COLOURS = { better: 'green', worse: 'red', same: 'dim' } as const

function comparedLine(name: string, { verdict, before, after, p, test }: ComparedRate, paint: Paint): string {
  const isEqual = before.passed * after.trials === after.passed * before.trials
  const said = verdict === 'same' && !isEqual ? 'not significant' : verdict
  return `${paint(COLOURS[verdict], said.padEnd(6))} ${oneLine(name)}: ${fraction(before)} → ${fraction(after)} (p = ${p.toFixed(3)}, ${test})`
}

const fraction = ({ passed, trials }: ComparedRate['before']): string => `${passed}/${trials}`

const intervalText = ({ low, high }: Interval): string => `${percent(low)} – ${percent(high)}`
