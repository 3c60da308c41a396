import { linesOf, roundTop, valueText } from './chart-scale.ts'

export interface ChartSeries {
  readonly label: string
  readonly values: readonly (number | null)[]
}

export interface ChartProps {
  readonly metric: string
  readonly series: readonly ChartSeries[]
  /** Samples of a full hour. */
  readonly length: number
}

const WIDTH = 320
const HEIGHT = 90

/** Lines over the last hour, with the last and highest value of each as text. */
export function Chart({ metric, series, length }: ChartProps) {
  const top = roundTop(Math.max(...series.flatMap(({ values }) => values.map((value) => value ?? 0))))
  return (
    <figure class="chart">
      <div class="plot">
        <span class="top" aria-hidden="true">
          {valueText(metric, top)}
        </span>
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          <line class="grid" x1="0" y1="0.5" x2={WIDTH} y2="0.5" />
          <line class="grid" x1="0" y1={HEIGHT / 2} x2={WIDTH} y2={HEIGHT / 2} />
          <line class="grid" x1="0" y1={HEIGHT - 0.5} x2={WIDTH} y2={HEIGHT - 0.5} />
          {series.map(({ label, values }, at) =>
            linesOf(values, { width: WIDTH, height: HEIGHT, top, length }).map((points) => (
              <polyline key={`${label} ${points}`} class={`line-${at % LINE_STYLES}`} points={points} />
            )),
          )}
        </svg>
        <div class="hours" aria-hidden="true">
          <span>1 h ago</span>
          <span>now</span>
        </div>
      </div>
      <table>
        <caption class="hidden">{metric}</caption>
        <thead class="hidden">
          <tr>
            <th scope="col">Series</th>
            <th scope="col">Now</th>
            <th scope="col">Highest</th>
          </tr>
        </thead>
        <tbody>
          {series.map(({ label, values }, at) => (
            <tr key={label}>
              <th scope="row">
                <span class={`swatch line-${at % LINE_STYLES}`} aria-hidden="true" /> {label === '' ? 'all' : label}
              </th>
              <td class="number">{textOf(metric, values.at(-1))}</td>
              <td class="number quiet">max {textOf(metric, highestOf(values))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}

const LINE_STYLES = 4

const highestOf = (values: readonly (number | null)[]): number | null =>
  values.reduce((highest, value) => (value !== null && (highest === null || value > highest) ? value : highest), null)

const textOf = (metric: string, value: number | null | undefined): string =>
  value === null || value === undefined ? '–' : valueText(metric, value)
