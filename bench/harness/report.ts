import { type Comparison, isMet, type LoadCost, median, ratioOf, spreadOf } from './rounds.ts'

const figure = (value: number) => (value >= 100 ? Math.round(value).toString() : value.toPrecision(3))
const percent = (share: number) => `±${Math.round((share * 100) / 2)} %`
function goalText({ goal }: Comparison): string {
  if (goal === undefined) return ''
  if ('below' in goal) return `Perdure < ${goal.below}`
  return 'atLeast' in goal ? `≥ ${goal.atLeast}` : `≤ ${goal.atMost}`
}
const verdict = (comparison: Comparison) => ({ true: 'met', false: 'MISSED', undefined: '' })[`${isMet(comparison)}`]

/** The medians of the floor and of Perdure. */
const costs = ({ load }: Comparison, name: keyof LoadCost): string =>
  load === undefined
    ? ''
    : [load.floor, load.subject].map((rounds) => figure(median(rounds.map((one) => one[name])))).join(' / ')

/** A Markdown table of medians, ratios and spreads. */
export function toTable(comparisons: readonly Comparison[]): string {
  const rows = comparisons.map((comparison) => [
    comparison.case,
    comparison.variant,
    comparison.unit,
    comparison.floor.length === 0 ? '' : `${figure(median(comparison.floor))} ${percent(spreadOf(comparison.floor))}`,
    `${figure(median(comparison.subject))} ${percent(spreadOf(comparison.subject))}`,
    comparison.floor.length === 0 ? '' : figure(ratioOf(comparison)),
    goalText(comparison),
    verdict(comparison) ?? '',
    costs(comparison, 'p99Ms'),
    costs(comparison, 'cpuMicros'),
    comparison.note ?? '',
  ])
  const all = [['', 'case', 'unit', 'floor', 'Perdure', 'ratio', 'goal', '', 'p99 ms', 'CPU µs', 'note'], ...rows]
  const [head = [], ...body] = all.map((row) => `| ${row.join(' | ')} |`)
  return [head, `|${'---|'.repeat(11)}`, ...body].join('\n')
}
